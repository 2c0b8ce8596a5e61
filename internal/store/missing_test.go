package store

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/sqldb"
)

// lost is a place whose store was prepared and lost its database since: the SQLite
// file, or everything in it.
func lost(t *testing.T, place dbtest.DB, file bool) {
	t.Helper()
	if err := prepared(t, place).Close(); err != nil {
		t.Fatal(err)
	}
	if place.Engine == dbtest.SQLite {
		for _, end := range []string{"", "-wal", "-shm"} {
			if err := os.RemoveAll(filepath.Join(place.Dir, DatabaseName+end)); err != nil {
				t.Fatal(err)
			}
		}
		if file {
			write(t, filepath.Join(place.Dir, DatabaseName), "")
		}
		return
	}
	place.Clear(t)
}

// Only a folder without a key file and without a database is new.
func TestKeyFileBesideNoDatabaseIsNotANewStore(t *testing.T) {
	t.Parallel()
	dbtest.Engines(t, func(t *testing.T, place dbtest.DB) {
		for _, emptyFile := range []bool{true, false} {
			lost(t, place, emptyFile)
			before := fileNames(t, place.Dir)
			for name, act := range map[string]func(s *Store) error{
				"a command":   func(s *Store) error { return s.Prepare(t.Context()) },
				"the server":  func(s *Store) error { return s.PrepareToServe(t.Context()) },
				"its flag":    func(s *Store) error { return s.AcceptLoss(t.Context(), operator) },
				"a migration": func(s *Store) error { _, err := s.Migrate(t.Context()); return err },
				"its steps":   func(s *Store) error { _, err := s.Migrations(t.Context()); return err },
				"a rekey":     func(s *Store) error { _, err := s.PlanRekey(t.Context()); return err },
			} {
				s, err := Open(t.Context(), optionsOf(place, newClock()))
				if err == nil {
					err = act(s)
					_ = s.Close()
				}
				wantError(t, err, "database_missing")
				for _, part := range []string{keyFile(place), "Restore the database", "to start again, move " + keyFile(place), " out of the folder"} {
					if !strings.Contains(messageOf(err), part) {
						t.Errorf("%s: the message %q does not say %q", name, messageOf(err), part)
					}
				}
			}
			if after := fileNames(t, place.Dir); !slices.Equal(before, after) {
				t.Errorf("the folder held %v, and holds %v", before, after)
			}
			for _, name := range []string{keyfile.FileName, "store.commits"} {
				if err := os.RemoveAll(filepath.Join(place.Dir, name)); err != nil {
					t.Fatal(err)
				}
			}
		}
		wantError(t, opened(t, optionsOf(place, newClock())).Prepare(t.Context()), "")
	})
}

// fileNames lists the files of a folder, without those that SQLite makes to read one.
func fileNames(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), "-wal") && !strings.HasSuffix(e.Name(), "-shm") {
			list = append(list, e.Name())
		}
	}
	return list
}

func TestAKeyFromTheEnvironmentIsNoKeyFile(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, place dbtest.DB) {
		elsewhere := t.TempDir()
		if _, err := keyfile.Create(elsewhere); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(elsewhere, keyfile.FileName))
		if err != nil {
			t.Fatal(err)
		}
		o := optionsOf(place, newClock())
		o.KeyText = string(text)
		s := opened(t, o)
		if err := s.PrepareToServe(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Ready(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// The content goes while the store runs.
func TestReadyOnlyWithItsContent(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		only  string // an engine
		spoil func(t *testing.T, f *fixture)
	}{
		{"a table is dropped", "", func(t *testing.T, f *fixture) { execute(t, f, `DROP TABLE meta`) }},
		{"the check value is gone", "", func(t *testing.T, f *fixture) { execute(t, f, `DELETE FROM meta`) }},
		{"the database is made anew", dbtest.Postgres, func(t *testing.T, f *fixture) { f.at.Clear(t) }},
		{"the database is another one's", dbtest.Postgres, func(t *testing.T, f *fixture) {
			f.at.Clear(t)
			other := f.at
			other.Dir = t.TempDir()
			prepared(t, other)
		}},
		{"the file is removed", dbtest.SQLite, func(t *testing.T, f *fixture) { removeFile(t, f, "") }},
		{"the log is removed", dbtest.SQLite, func(t *testing.T, f *fixture) { removeFile(t, f, "-wal") }},
		{"the file is replaced", dbtest.SQLite, func(t *testing.T, f *fixture) {
			removeFile(t, f, "")
			write(t, filepath.Join(f.at.Dir, DatabaseName), "")
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, engine := range []string{dbtest.SQLite, dbtest.Postgres} {
				if c.only != "" && c.only != engine {
					continue
				}
				t.Run(engine, func(t *testing.T) {
					f := prepared(t, emptyStore.New(t, engine))
					if err := f.Ready(t.Context()); err != nil {
						t.Fatal(err)
					}
					c.spoil(t, f)
					for f.database.Ping(t.Context()) != nil { // connections that were ended
					}
					if err := f.Ready(t.Context()); err == nil {
						t.Error("it is ready")
					}
				})
			}
		})
	}
}

func removeFile(t *testing.T, f *fixture, end string) {
	t.Helper()
	if err := os.Remove(filepath.Join(f.at.Dir, DatabaseName+end)); err != nil {
		t.Fatal(err)
	}
}

// execute runs a statement beside the store, as another program would.
func execute(t *testing.T, f *fixture, statement string) {
	t.Helper()
	db, err := sqldb.Open(t.Context(), sqldb.Options{URL: f.at.URL, Path: filepath.Join(f.at.Dir, DatabaseName)})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Queries().Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}
