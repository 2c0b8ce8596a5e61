package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
)

const pageBytes = 4096

// damagePage overwrites a page of a SQLite file that nobody has open.
func damagePage(t *testing.T, path string, page int64) {
	t.Helper()
	f := must.Get(os.OpenFile(path, os.O_RDWR, 0))(t)
	_, err := f.WriteAt(bytes.Repeat([]byte{0xff}, pageBytes), page*pageBytes)
	if closed := f.Close(); err != nil || closed != nil {
		t.Fatal(err, closed)
	}
}

// Doctor names the file of a broken page, wherever that is, what it means and what to do.
func TestDoctorNamesTheFileOfABrokenPage(t *testing.T) {
	t.Parallel()
	for _, service := range []struct {
		file, variable string
		setUp          []string
	}{{"store.db", envData, []string{"store", "workspace", "create", "ada"}}, {"addon.db", envAddonData, []string{"addon", "update"}}} {
		t.Run(service.file, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			mustRunAt(t, dir, "", service.setUp...)
			path := filepath.Join(dir, service.file)
			backup := filepath.Join(dir, "backups", strings.TrimSuffix(service.file, ".db")+"-20260102T030405Z.db")
			mkdir(t, filepath.Dir(backup))
			write(t, backup, []byte("a backup"))
			sound := must.Get(os.ReadFile(path))(t)
			pages, found := int64(len(sound)/pageBytes), 0
			for page := int64(1); page < pages; page += max(pages/12, 1) {
				write(t, path, sound)
				damagePage(t, path, page)
				r := commandIn(t, environment{service.variable: dir}, "doctor")
				if strings.Contains(r.out, "The database answers and is intact") {
					continue // nothing is on the page
				}
				found++
				for _, part := range []string{"The database file " + path + " is damaged", "why: ", "Stop the service, keep a copy of the file, and restore a backup; the newest is " + backup} {
					if !strings.Contains(r.out, part) {
						t.Errorf("page %d: no %q in %s", page, part, r.out)
					}
				}
				if r.code != cli.ExitNo || r.err != "" || strings.Contains(r.out, "***") {
					t.Errorf("page %d: exit code %d, %s", page, r.code, r.err)
				}
			}
			if found < 8 {
				t.Errorf("only %d damaged pages were found", found)
			}
		})
	}
}

// A command that meets a broken page tells it once, as its error.
func TestBrokenPageIsToldOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	mustRunAt(t, dir, "", "store", "workspace", "create", "ada")
	path := filepath.Join(dir, "store.db")
	info := must.Get(os.Stat(path))(t)
	for page := int64(1); page < info.Size()/pageBytes; page++ {
		damagePage(t, path, page)
	}
	r := command(t, dir, "store", "workspace", "list")
	if r.code != cli.ExitConflict || strings.Count(r.err, "\n") != 1 || !strings.Contains(r.err, "The database file "+path+" is damaged") {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
}

// An update that fails names the cause, and no log.
func TestFailedUpdateNamesItsCause(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		at.Dir = filepath.Join(at.Dir, "data")
		mustRunAt(t, at.Dir, at.URL, "addon", "update", "--web-token")
		db := must.Get(sqldb.Open(t.Context(), sqldb.Options{URL: at.URL, Path: filepath.Join(at.Dir, "addon.db")}))(t)
		defer db.Close()
		must.Get(db.Queries().Exec(t.Context(), `CREATE TABLE packages (somebody_elses text)`))(t)
		code, out := runAt(t, at.Dir, at.URL, "addon", "update")
		_, failure, _ := strings.Cut(out, "error: ")
		if code != cli.ExitFailed || !strings.Contains(failure, "packages") || strings.Count(failure, "\n") != 1 || strings.Contains(out, "the log") {
			t.Errorf("exit code %d: %s", code, out)
		}
	})
}
