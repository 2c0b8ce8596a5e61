package sqldb

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

func TestServerWhoseFilesAreGoneStopsWriting(t *testing.T) {
	t.Parallel()
	replace := func(t *testing.T, path string) {
		t.Helper()
		must.Do(t, errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600)))
	}
	cases := []struct {
		name, file, want string
		only             string
		spoil            func(t *testing.T, path string)
	}{
		{"nothing happened", "serve.lock", "", "", func(*testing.T, string) {}},
		{"the lock was removed", "serve.lock", "lock file of the data folder", "", remove},
		{"the lock was replaced", "serve.lock", "lock file of the data folder", "", replace},
		{"the database was removed", "x.db", "database file was removed", dbtest.SQLite, remove},
		{"the database was replaced", "x.db", "database file was removed", dbtest.SQLite, replace},
		{"the log was removed", "x.db-wal", "database file was removed", dbtest.SQLite, remove},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
				if c.only != "" && c.only != at.Engine {
					return
				}
				lock := must.Get(LockFolder(at.Dir, "a test", ""))(t)
				defer lock.Unlock()
				db := must.Get(Open(t.Context(), Options{URL: at.URL, Path: filepath.Join(at.Dir, "x.db"), Lock: lock}))(t)
				defer db.Close()
				must.Do(t, errors.Join(db.Migrate(t.Context()), writeMeta(t.Context(), db, "one")))
				c.spoil(t, filepath.Join(at.Dir, c.file))
				db.checkPlace()
				// What is read is of the database that was opened, or nothing.
				value, err := db.Queries().Meta(t.Context(), "one")
				if (err != nil || value != "x") && (c.file == serveLock || !isUnavailable(err)) {
					t.Errorf("read %q, %v", value, err)
				}
				for name, err := range map[string]error{"a write": writeMeta(t.Context(), db, "two"), "the health": db.Healthy()} {
					if (err == nil) != (c.want == "") || (err != nil && (!isUnavailable(err) || !strings.Contains(err.Error(), c.want))) {
						t.Errorf("%s: %v, want %q", name, err, c.want)
					}
				}
			})
		})
	}
}

func isUnavailable(err error) bool {
	apiErr, ok := errors.AsType[*countersign.Error](err)
	return ok && apiErr.Kind == countersign.KindUnavailable
}

func remove(t *testing.T, path string) {
	t.Helper()
	must.Do(t, os.Remove(path))
}

func TestLockIsNotTakenThroughALink(t *testing.T) {
	for _, there := range []bool{true, false} {
		dir, target := t.TempDir(), filepath.Join(t.TempDir(), "target")
		if there {
			must.Do(t, os.WriteFile(target, []byte("kept"), 0o600))
		}
		must.Do(t, os.Symlink(target, filepath.Join(dir, serveLock)))
		_, err := LockFolder(dir, "a test", "")
		apiErr, ok := errors.AsType[*countersign.Error](err)
		if !ok || apiErr.Kind != countersign.KindConflict || !strings.Contains(apiErr.Message, "is not a regular file") {
			t.Errorf("%v", err)
		}
		expect.Equalf(t, ServedAt(dir), "", "served at")
		if text, err := os.ReadFile(target); (err == nil) != there || (there && string(text) != "kept") {
			t.Errorf("the target holds %q, %v", text, err)
		}
	}
}
