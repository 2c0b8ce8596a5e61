package store

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
)

func keyFile(place dbtest.DB) string { return filepath.Join(place.Dir, keyfile.FileName) }

func TestFirstRunMakesTablesAndAKeyFile(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, place dbtest.DB) {
		place.Dir = filepath.Join(place.Dir, "not", "there", "yet")
		f := prepared(t, place)
		info, err := os.Stat(place.Dir)
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("the folder: %v, %v", info, err)
		}
		info, err = os.Stat(keyFile(place))
		if err != nil || info.Mode() != 0o600 {
			t.Errorf("the key file: %v, %v", info, err)
		}
		if err := f.Ready(t.Context()); err != nil {
			t.Error(err)
		}
		f.again(t).mustImport(t, twoShops)
		if got := f.rows(t, "items"); got != 3 {
			t.Errorf("%d items", got)
		}
	})
}

func TestManyFirstRunsAtOnce(t *testing.T) {
	t.Parallel()
	dbtest.Engines(t, func(t *testing.T, place dbtest.DB) {
		var work sync.WaitGroup
		stores := make([]*Store, 4)
		for i := range stores {
			stores[i] = opened(t, optionsOf(place, newClock()))
			work.Go(func() {
				if err := stores[i].Prepare(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		work.Wait()
		for _, s := range stores[1:] {
			if s.gate.Box() == nil || !s.gate.Box().Matches(stores[0].gate.Box().Check()) {
				t.Error("two of them use different key files")
			}
		}
	})
}

// How a store is found, and what a command and the server make of it.
func TestPrepareByState(t *testing.T) {
	t.Parallel()
	laterStep := sqldb.Schema{Name: "store", Files: fstest.MapFS{
		"migrations/00001_store.sql": {Data: []byte("-- +goose Up\nCREATE TABLE of_another_build (id bigint);")},
		"migrations/00099_later.sql": {Data: []byte("-- +goose Up\nCREATE TABLE later (id bigint);")},
	}}
	people := peopledb.Schema
	cases := []struct {
		name           string
		before         func(t *testing.T, place dbtest.DB)
		command, serve string // codes of the errors
		mentions       string
	}{
		{"nothing", func(*testing.T, dbtest.DB) {}, "", "", ""},
		{"a store of this version", func(t *testing.T, place dbtest.DB) { prepared(t, place) }, "", "", ""},
		{"tables of an older version with content", func(t *testing.T, place dbtest.DB) {
			migrate(t, place, people)
			withContent(t, place)
		}, "schema_older", "", "older version"},
		{"tables of a later version", func(t *testing.T, place dbtest.DB) { migrate(t, place, people, laterStep) }, "schema_newer", "schema_newer", "newer version"},
		{"a first run that was killed between two schemas", func(t *testing.T, place dbtest.DB) { migrate(t, place, people) }, "", "", ""},
		{"a first run that was killed before the key file", func(t *testing.T, place dbtest.DB) { migrate(t, place, storedb.Schemas...) }, "", "", ""},
		{"a first run that was killed after the key file", func(t *testing.T, place dbtest.DB) {
			migrate(t, place, storedb.Schemas...)
			if _, err := keyfile.Create(place.Dir); err != nil {
				t.Fatal(err)
			}
		}, "", "", ""},
		{"no key file beside a store", func(t *testing.T, place dbtest.DB) {
			prepared(t, place)
			remove(t, keyFile(place))
		}, "key_missing", "key_missing", "is missing"},
		{"the key file of another store", func(t *testing.T, place dbtest.DB) {
			prepared(t, place)
			remove(t, keyFile(place))
			if _, err := keyfile.Create(place.Dir); err != nil {
				t.Fatal(err)
			}
		}, "key_mismatch", "key_mismatch", "replace it with that one"},
		{"a key file that can't be read", func(t *testing.T, place dbtest.DB) {
			prepared(t, place)
			write(t, keyFile(place), "countersign-key-1:AAAA")
		}, "key_unreadable", "key_unreadable", keyfile.FileName},
		{"an empty key file", func(t *testing.T, place dbtest.DB) {
			prepared(t, place)
			write(t, keyFile(place), "")
		}, "key_unreadable", "key_unreadable", keyfile.FileName},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dbtest.Engines(t, func(t *testing.T, place dbtest.DB) {
				c.before(t, place)
				s := opened(t, optionsOf(place, newClock()))
				err := s.Prepare(t.Context())
				wantError(t, err, c.command)
				if !strings.Contains(messageOf(err), c.mentions) {
					t.Errorf("message %q does not mention %q", messageOf(err), c.mentions)
				}
				if (s.gate.Box() == nil) != (err != nil) {
					t.Errorf("a key file is loaded: %t, error %v", s.gate.Box() != nil, err)
				}
				wantError(t, opened(t, optionsOf(place, newClock())).PrepareToServe(t.Context()), c.serve)
			})
		})
	}
}

// migrate creates the tables of some schemas, as another build would.
func migrate(t *testing.T, place dbtest.DB, schemas ...sqldb.Schema) {
	t.Helper()
	db, err := sqldb.Open(t.Context(), sqldb.Options{URL: place.URL, Path: filepath.Join(place.Dir, DatabaseName), Schemas: schemas})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// withContent writes what every store that was ever prepared has: the check value
// of its key file.
func withContent(t *testing.T, place dbtest.DB) {
	t.Helper()
	box, err := keyfile.Create(place.Dir)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sqldb.Open(t.Context(), sqldb.Options{URL: place.URL, Path: filepath.Join(place.Dir, DatabaseName)})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Queries().SetMeta(t.Context(), keyfile.CheckName, box.Check()); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestMismatchNamesBothKeyFiles(t *testing.T) {
	place := dbtest.New(t, dbtest.SQLite)
	first := prepared(t, place).gate.Box()
	remove(t, keyFile(place))
	second, err := keyfile.Create(place.Dir)
	if err != nil {
		t.Fatal(err)
	}
	message := messageOf(opened(t, optionsOf(place, newClock())).Prepare(t.Context()))
	for _, box := range []*keyfile.Box{first, second} {
		if !strings.Contains(message, keyfile.KeyName(box.Check())) {
			t.Errorf("message %q does not name %s", message, keyfile.KeyName(box.Check()))
		}
	}
}

func TestMissingKeyFileIsNotReplaced(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, place dbtest.DB) {
		f := prepared(t, place)
		remove(t, keyFile(place))
		err := opened(t, optionsOf(place, newClock())).Prepare(t.Context())
		if !strings.Contains(messageOf(err), keyfile.KeyName(f.gate.Box().Check())) {
			t.Errorf("message %q does not say which key file belongs here", messageOf(err))
		}
		if _, err := os.Stat(keyFile(place)); err == nil {
			t.Error("a new key file was made")
		}
	})
}

func TestKeyGivenAsText(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, place dbtest.DB) {
		elsewhere := t.TempDir()
		if _, err := keyfile.Create(elsewhere); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(filepath.Join(elsewhere, keyfile.FileName))
		if err != nil {
			t.Fatal(err)
		}
		o := optionsOf(place, newClock())
		o.KeyText = string(content)
		if err := opened(t, o).Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(keyFile(place)); err == nil {
			t.Error("a key file was made although the key is given")
		}
		if err := opened(t, o).Prepare(t.Context()); err != nil {
			t.Errorf("the second time: %v", err)
		}
		o.KeyText = "something else"
		err = opened(t, o).Prepare(t.Context())
		wantError(t, err, "key_unreadable")
		if strings.Contains(messageOf(err), "something else") {
			t.Errorf("message %q shows what was given", messageOf(err))
		}
		wantError(t, opened(t, optionsOf(place, newClock())).Prepare(t.Context()), "key_missing")
	})
}

// Two servers share one PostgreSQL database: the second needs the key file of the
// first.
func TestSecondDataFolderOnOneDatabase(t *testing.T) {
	place := dbtest.New(t, dbtest.Postgres)
	f := prepared(t, place)
	second := place
	second.Dir = t.TempDir()
	err := opened(t, optionsOf(second, newClock())).Prepare(t.Context())
	wantError(t, err, "key_missing")
	if !strings.Contains(messageOf(err), keyfile.KeyName(f.gate.Box().Check())) {
		t.Errorf("message %q does not say which key file belongs here", messageOf(err))
	}
	content, err := os.ReadFile(keyFile(place))
	if err != nil {
		t.Fatal(err)
	}
	write(t, keyFile(second), string(content))
	if err := opened(t, optionsOf(second, newClock())).Prepare(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestFolderThatCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	_, err := Open(t.Context(), Options{Dir: filepath.Join(file, "data")})
	wantError(t, err, "data_folder")
	if !strings.Contains(messageOf(err), "not a directory") {
		t.Errorf("message %q", messageOf(err))
	}
}

func TestMigrateBacksUpWhatIsOlder(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, place dbtest.DB) {
		migrate(t, place, peopledb.Schema)
		withContent(t, place)
		s := opened(t, optionsOf(place, newClock()))
		backup, err := s.Migrate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(backup); err != nil || info.Size() == 0 || filepath.Dir(backup) != filepath.Join(place.Dir, "backups") {
			t.Errorf("backup %q: %v", backup, err)
		}
		if again, err := s.Migrate(t.Context()); err != nil || again != "" {
			t.Errorf("the second time: %q, %v", again, err)
		}
		steps, err := s.Migrations(t.Context())
		if err != nil || len(steps) < 3 {
			t.Fatalf("steps %+v, %v", steps, err)
		}
		for _, step := range steps {
			if !step.Applied {
				t.Errorf("step %+v is not applied", step)
			}
		}
		if err := s.Prepare(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestMigrateOfAnEmptyDatabaseNeedsNoBackup(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, place dbtest.DB) {
		backup, err := opened(t, optionsOf(place, newClock())).Migrate(t.Context())
		if err != nil || backup != "" {
			t.Errorf("%q, %v", backup, err)
		}
	})
}

// A server whose PostgreSQL is down at the start runs, and is ready when it comes.
func TestServerStartsBeforePostgres(t *testing.T) {
	t.Parallel()
	place := dbtest.New(t, dbtest.Postgres)
	proxy := dbtest.NewProxy(t, place)
	proxy.Cut()
	far := place
	far.URL = proxy.URL
	s := opened(t, optionsOf(far, newClock()))
	wantError(t, s.PrepareToServe(t.Context()), "unavailable")
	wantError(t, s.Ready(t.Context()), "unavailable")
	proxy.Restore()
	f := &fixture{s, newClock(), far}
	f.run(t) // waits until the keys are held
	wantError(t, s.Ready(t.Context()), "")
}

func TestRunEndsWhenTheStoreCannotBeServed(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, place dbtest.DB) {
		prepared(t, place)
		remove(t, keyFile(place))
		wantError(t, opened(t, optionsOf(place, newClock())).Run(t.Context()), "key_missing")
	})
}

// Nothing that is written to the log shows a key or a code.
func TestLogShowsNoSecret(t *testing.T) {
	place := dbtest.New(t, dbtest.Postgres)
	proxy := dbtest.NewProxy(t, place)
	far := place
	far.URL = strings.Replace(proxy.URL, "postgres@", "postgres:geheim@", 1)
	var log bytes.Buffer
	o := optionsOf(far, newClock())
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	s := opened(t, o)
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	f := &fixture{s, newClock(), far}
	f.mustImport(t, twoShops+lines(purchaseText("ada", 1, "secret-code")))
	_, token := f.mustCreate(t, NewKey{Workspace: "ada"})
	actor := f.actorOf(t, token)
	proxy.Cut()
	s.Validation.Close(t.Context())
	_, err := f.Validation.Validate(t.Context(), actor, "secret-code")
	for _, text := range []string{log.String(), err.Error()} {
		for _, secret := range []string{token, "secret-code", "geheim"} {
			if strings.Contains(text, secret) {
				t.Errorf("%q shows %q", text, secret)
			}
		}
	}
	if log.Len() == 0 {
		t.Error("nothing was written to the log")
	}
	proxy.Restore()
}
