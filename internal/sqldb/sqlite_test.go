package sqldb

import (
	"errors"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

func TestSettingsOfTheWriter(t *testing.T) {
	db := open(t, optionsOf(dbtest.New(t, dbtest.SQLite)))
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "0",
	} {
		var got string
		if err := db.write.QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %q, %v; want %q", pragma, got, err, want)
		}
	}
}

func TestReadersCannotWrite(t *testing.T) {
	db := migrated(t, dbtest.New(t, dbtest.SQLite))
	if _, err := db.read.Exec(`DELETE FROM notes`); err == nil {
		t.Error("a reading connection wrote")
	}
}

func TestDatabaseFileBelongsToItsOwnerAlone(t *testing.T) {
	at := dbtest.New(t, dbtest.SQLite)
	db := migrated(t, at)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		wantPrivate(t, db.options.Path+suffix)
	}
}

func TestPathsThatLookLikeURLs(t *testing.T) {
	for _, name := range []string{"a b", "50%", "what?mode=memory", "a#b", "é", "a&b=c", "%20", "a;b"} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), name)
			must.Do(t, os.Mkdir(dir, 0o700))
			path := filepath.Join(dir, name+".db")
			db := open(t, Options{Path: path, Schemas: []Schema{twoSteps()}})
			must.Do(t, db.Migrate(t.Context()))
			must.Do(t, db.Session(t.Context(), func(session *DB) error {
				return session.Tx(t.Context(), func(q Queries) error { return addNote(t.Context(), q, 1) })
			}))
			expect.Equalf(t, count(t, db.Queries(), `SELECT count(*) FROM notes`), 1, "readers and writers use different files")
			if info, err := os.Stat(path + "-wal"); err != nil || info.Size() == 0 {
				t.Errorf("the file is not where it was asked for: %v", err)
			}
		})
	}
}

func TestFileThatCannotBeMade(t *testing.T) {
	_, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "none", "store.db")})
	var apiErr *countersign.Error
	if !errors.As(err, &apiErr) || apiErr.Kind != countersign.KindUnavailable {
		t.Errorf("error %v, want one of kind Unavailable", err)
	}
}

func TestFileThatIsNoDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	must.Do(t, os.WriteFile(path, []byte(strings.Repeat("this is not a database\n", 300)), 0o600))
	if _, err := Open(t.Context(), Options{Path: path}); err == nil {
		t.Error("it was opened")
	}
}

// The log is folded into the file when the last process ends, so that a copy of
// the file is whole.
func TestCloseLeavesOneFile(t *testing.T) {
	at := dbtest.New(t, dbtest.SQLite)
	db := must.Get(Open(t.Context(), optionsOf(at, twoSteps())))(t)
	must.Do(t, db.Migrate(t.Context()))
	count(t, db.Queries(), `SELECT count(*) FROM notes`)
	must.Do(t, db.Close())
	left := must.Get(filepath.Glob(filepath.Join(at.Dir, "notes.db*")))(t)
	for _, path := range left {
		if strings.HasSuffix(path, "-wal") || strings.HasSuffix(path, "-shm") {
			t.Errorf("%s is left", path)
		}
	}
}

// The SQLite driver works with exactly the libc that its own go.mod names.
func TestSQLiteAndItsLibcAreAPair(t *testing.T) {
	list := func(format, module string) string {
		t.Helper()
		out, err := osexec.Command("go", "list", "-m", "-f", format, module).Output()
		if err != nil {
			t.Fatal("go list:", err)
		}
		return strings.TrimSpace(string(out))
	}
	file := must.Get(os.ReadFile(list("{{.GoMod}}", "modernc.org/sqlite")))(t)
	asked := regexp.MustCompile(`modernc\.org/libc (v\S+)`).FindSubmatch(file)
	if asked == nil {
		t.Fatal("the driver's go.mod names no libc")
	}
	if ours := list("{{.Version}}", "modernc.org/libc"); ours != string(asked[1]) {
		t.Errorf("go.mod has modernc.org/libc %s, but modernc.org/sqlite asks for %s", ours, asked[1])
	}
}
