package store_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/storetest"
)

// lost is a place whose store was prepared and lost its database since: the SQLite
// file, or everything in it.
func lost(t *testing.T, place dbtest.DB, file bool) {
	t.Helper()
	must.Do(t, storetest.Prepared(t, place).Close())
	if place.Engine == dbtest.SQLite {
		for _, end := range []string{"", "-wal", "-shm"} {
			must.Do(t, os.RemoveAll(filepath.Join(place.Dir, store.Product.DatabaseName()+end)))
		}
		if file {
			write(t, filepath.Join(place.Dir, store.Product.DatabaseName()), "")
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
			for name, act := range map[string]func(s *store.Store) error{
				"a command":  func(s *store.Store) error { return s.Prepare(t.Context()) },
				"the server": func(s *store.Store) error { return s.PrepareToServe(t.Context()) },
				"its flag": func(s *store.Store) error {
					return s.Instance.AcceptLoss(t.Context(), storetest.Operator, s.PrepareToServe)
				},
				"a migration": func(s *store.Store) error { _, err := s.Migrate(t.Context()); return err },
				"its steps":   func(s *store.Store) error { _, err := s.Migrations(t.Context()); return err },
				"a rekey":     func(s *store.Store) error { _, err := s.PlanRekey(t.Context()); return err },
			} {
				s, err := store.Open(t.Context(), storetest.OptionsOf(place, storetest.NewClock()))
				if err == nil {
					err = act(s)
					_ = s.Close()
				}
				storetest.WantError(t, err, "database_missing")
				for _, part := range []string{keyFile(place), "Restore the database", "to start again, move " + keyFile(place), " out of the folder"} {
					if !strings.Contains(storetest.MessageOf(err), part) {
						t.Errorf("%s: the message %q does not say %q", name, storetest.MessageOf(err), part)
					}
				}
			}
			if after := fileNames(t, place.Dir); !slices.Equal(before, after) {
				t.Errorf("the folder held %v, and holds %v", before, after)
			}
			for _, name := range []string{keyfile.FileName, "store.commits"} {
				must.Do(t, os.RemoveAll(filepath.Join(place.Dir, name)))
			}
		}
		storetest.WantError(t, storetest.Unprepared(t, place).Prepare(t.Context()), "")
	})
}

// fileNames lists the files of a folder, without those that SQLite makes to read one.
func fileNames(t *testing.T, dir string) []string {
	t.Helper()
	entries := must.Get(os.ReadDir(dir))(t)
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
		otherFolder := t.TempDir()
		must.Get(keyfile.Create(otherFolder))(t)
		text := must.Get(os.ReadFile(filepath.Join(otherFolder, keyfile.FileName)))(t)
		o := storetest.OptionsOf(place, storetest.NewClock())
		o.KeyText = string(text)
		s := storetest.Opened(t, o)
		must.Do(t, s.PrepareToServe(t.Context()))
		expect.NoError(t, s.Instance.Ready(t.Context()))
	})
}

// The content goes while the store runs.
func TestReadyOnlyWithItsContent(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		only  string // an engine
		spoil func(t *testing.T, f *storetest.Fixture)
	}{
		{"a table is dropped", "", func(t *testing.T, f *storetest.Fixture) { f.Execute(t, `DROP TABLE meta`) }},
		{"the check value is gone", "", func(t *testing.T, f *storetest.Fixture) { f.Execute(t, `DELETE FROM meta`) }},
		{"the database is made anew", dbtest.Postgres, func(t *testing.T, f *storetest.Fixture) { f.At.Clear(t) }},
		{"the database is another one's", dbtest.Postgres, func(t *testing.T, f *storetest.Fixture) {
			f.At.Clear(t)
			other := f.At
			other.Dir = t.TempDir()
			storetest.Prepared(t, other)
		}},
		{"the file is removed", dbtest.SQLite, func(t *testing.T, f *storetest.Fixture) { removeFile(t, f, "") }},
		{"the log is removed", dbtest.SQLite, func(t *testing.T, f *storetest.Fixture) { removeFile(t, f, "-wal") }},
		{"the file is replaced", dbtest.SQLite, func(t *testing.T, f *storetest.Fixture) {
			removeFile(t, f, "")
			write(t, filepath.Join(f.At.Dir, store.Product.DatabaseName()), "")
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, engine := range dbtest.EnginesOf(t.Name()) {
				if c.only != "" && c.only != engine {
					continue
				}
				t.Run(engine, func(t *testing.T) {
					f := storetest.Prepared(t, storetest.EmptyStore.New(t, engine))
					must.Do(t, f.Instance.Ready(t.Context()))
					c.spoil(t, f)
					for f.Instance.Database.Ping(t.Context()) != nil { // connections that were ended
					}
					if err := f.Instance.Ready(t.Context()); err == nil {
						t.Error("it is ready")
					}
				})
			}
		})
	}
}

func removeFile(t *testing.T, f *storetest.Fixture, end string) {
	t.Helper()
	must.Do(t, os.Remove(filepath.Join(f.At.Dir, store.Product.DatabaseName()+end)))
}

// behind is a store whose database is an older copy than its commit file.
func behind(t *testing.T) *storetest.Fixture {
	t.Helper()
	f := storetest.Prepared(t, storetest.TwoShopsStore.New(t, dbtest.SQLite))
	must.Do(t, f.Close())
	write(t, sqldb.CommitFile(filepath.Join(f.At.Dir, store.Product.DatabaseName())), "00000000000000000009\n")
	return f
}

func TestCommitsThatAreMissingStopAServerUntilItsOperatorAccepts(t *testing.T) {
	f := behind(t)
	s := f.Unprepared(t)
	storetest.WantError(t, s.PrepareToServe(t.Context()), sqldb.CodeBehind)

	command := f.Unprepared(t)
	storetest.WantError(t, command.Prepare(t.Context()), "") // what only reads works
	if _, err := command.Workspace(t.Context(), storetest.Operator, "ada"); err != nil {
		t.Error(err)
	}
	storetest.WantError(t, command.Instance.Database.Behind(), sqldb.CodeBehind)
	_, _, err := command.CreateKey(t.Context(), storetest.Operator, store.NewKey{Workspace: "ada", Name: "web", Class: store.ClassSecret})
	storetest.WantError(t, err, sqldb.CodeBehind)

	storetest.WantError(t, s.Instance.AcceptLoss(t.Context(), people.Operator("ada"), s.PrepareToServe), "")
	storetest.WantError(t, s.Instance.Ready(t.Context()), "")
	again := storetest.Prepared(t, f.At)
	storetest.WantError(t, again.PrepareToServe(t.Context()), "")
	if audits := again.Audits(t); !strings.Contains(strings.Join(audits, "\n"), "store.accept_loss") {
		t.Errorf("the audit log: %v", audits)
	}
}
