package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
)

// without returns the commands that don't begin with some words.
func without(commands [][]string, words ...string) [][]string {
	return slices.DeleteFunc(slices.Clone(commands), func(c []string) bool { return slices.Equal(c[:min(len(words), len(c))], words) })
}

// outdate makes the database of a place one of an older version.
func outdate(t *testing.T, at dbtest.DB, service string) {
	t.Helper()
	db := must.Get(sqldb.Open(t.Context(), sqldb.Options{URL: at.URL, Path: filepath.Join(at.Dir, service+".db")}))(t)
	defer db.Close()
	must.Get(db.Queries().Exec(t.Context(), `DELETE FROM `+service+`_versions WHERE version_id > 1`))(t)
}

// replaceKey puts another key in the place of a key file.
func replaceKey(t *testing.T, dir string) {
	t.Helper()
	must.Do(t, os.Remove(filepath.Join(dir, keyfile.FileName)))
	must.Get(keyfile.Create(dir))(t)
}

// A key file that does not belong to the database is refused before anything is written, also
// where the tables are older.
func TestWrongKeyFileIsRefusedBeforeAnythingIsWritten(t *testing.T) {
	t.Parallel()
	for _, service := range []struct {
		name     string
		setUp    []string
		commands [][]string
	}{
		{"store", []string{"store", "workspace", "create", "ada"}, without(without(storeCommands, "store", "rekey"), "store", "migrate", "status")},
		{"addon", []string{"addon", "update"}, addonCommands},
	} {
		made := dbtest.NewTemplate(func(at dbtest.DB) error {
			mustRunAt(t, filepath.Join(at.Dir, "data"), at.URL, service.setUp...)
			return nil
		})
		for name, spoil := range map[string]func(t *testing.T, path string){
			"is the one named ": func(t *testing.T, path string) { replaceKey(t, filepath.Dir(path)) },
			"is missing": func(t *testing.T, path string) {
				must.Do(t, os.Remove(path))
			},
			"not a key file": func(t *testing.T, path string) { write(t, path, []byte("nonsense")) },
		} {
			t.Run(service.name+" "+name, func(t *testing.T) {
				t.Parallel()
				made.Engines(t, func(t *testing.T, at dbtest.DB) {
					at.Dir = filepath.Join(at.Dir, "data")
					spoil(t, filepath.Join(at.Dir, keyfile.FileName))
					wantRefused(t, at, at.Dir, service.commands, name)
					outdate(t, at, service.name)
					wantRefused(t, at, at.Dir, without(without(service.commands, "addon", "settings"), "addon", "api"), name)
					if at.URL != "" {
						wantRefused(t, at, filepath.Join(filepath.Dir(at.Dir), "new"), without(without(service.commands, "addon", "settings"), "addon", "api"), "is missing")
					}
				})
			})
		}
	}
}

// Doctor names a key file that is not in use because a variable has another key.
func TestDoctorNamesAnUnusedKeyFile(t *testing.T) {
	for _, service := range []struct {
		dir, key, db, base string
		setUp              []string
	}{
		{envData, envKey, envDB, "store", []string{"store", "workspace", "create", "ada"}},
		{envAddonData, envAddonKey, envAddonDB, "addon", []string{"addon", "update"}},
	} {
		t.Run(service.base, func(t *testing.T) {
			dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
				dir := filepath.Join(at.Dir, "data")
				mustRunAt(t, dir, at.URL, service.setUp...)
				path := filepath.Join(dir, keyfile.FileName)
				key := must.Get(os.ReadFile(path))(t)
				env := environment{service.dir: dir, service.key: string(key), service.db: at.URL}
				if at.URL == "" {
					delete(env, service.db)
				}
				const says = " belongs to the database, but the key file "
				if r := commandIn(t, env, "doctor"); r.code != cli.ExitOK || strings.Contains(r.out, says) {
					t.Errorf("the same key: exit code %d, %s%s", r.code, r.out, r.err)
				}
				replaceKey(t, dir)
				r := commandIn(t, env, "doctor")
				if want := "warn key file The key in " + service.key + says + path + " is another key"; r.code != cli.ExitOK || !slices.Contains(lines(r.out), want) {
					t.Errorf("exit code %d, no %q in %s%s", r.code, want, r.out, r.err)
				}
			})
		})
	}
}
