package store_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/gofrs/flock"
)

func keyFile(place dbtest.DB) string { return filepath.Join(place.Dir, keyfile.FileName) }

func TestFirstRunMakesTablesAndAKeyFile(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, place dbtest.DB) {
		place.Dir = filepath.Join(place.Dir, "not", "there", "yet")
		f := storetest.Prepared(t, place)
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
		f.Again(t).MustImport(t, storetest.TwoShops)
		if got := f.Rows(t, "items"); got != 3 {
			t.Errorf("%d items", got)
		}
	})
}

func TestManyFirstRunsAtOnce(t *testing.T) {
	t.Parallel()
	dbtest.Engines(t, func(t *testing.T, place dbtest.DB) {
		var work sync.WaitGroup
		stores := make([]*storetest.Fixture, 4)
		for i := range stores {
			stores[i] = storetest.Unprepared(t, place)
			work.Go(func() {
				if err := stores[i].Prepare(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		work.Wait()
		for _, s := range stores[1:] {
			if s.Gate().Box() == nil || !s.Gate().Box().Matches(stores[0].Gate().Box().Check()) {
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
		{"a store of this version", func(t *testing.T, place dbtest.DB) { storetest.Prepared(t, place) }, "", "", ""},
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
			storetest.Prepared(t, place)
			remove(t, keyFile(place))
		}, "key_missing", "key_missing", "is missing"},
		{"the key file of another store", func(t *testing.T, place dbtest.DB) {
			storetest.Prepared(t, place)
			remove(t, keyFile(place))
			if _, err := keyfile.Create(place.Dir); err != nil {
				t.Fatal(err)
			}
		}, "key_mismatch", "key_mismatch", "replace it with that one"},
		{"a key file that can't be read", func(t *testing.T, place dbtest.DB) {
			storetest.Prepared(t, place)
			write(t, keyFile(place), "countersign-key-1:AAAA")
		}, "key_unreadable", "key_unreadable", keyfile.FileName},
		{"an empty key file", func(t *testing.T, place dbtest.DB) {
			storetest.Prepared(t, place)
			write(t, keyFile(place), "")
		}, "key_unreadable", "key_unreadable", keyfile.FileName},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dbtest.Engines(t, func(t *testing.T, place dbtest.DB) {
				c.before(t, place)
				s := storetest.Unprepared(t, place)
				err := s.Prepare(t.Context())
				storetest.WantError(t, err, c.command)
				if !strings.Contains(storetest.MessageOf(err), c.mentions) {
					t.Errorf("message %q does not mention %q", storetest.MessageOf(err), c.mentions)
				}
				if (s.Gate().Box() == nil) != (err != nil) {
					t.Errorf("a key file is loaded: %t, error %v", s.Gate().Box() != nil, err)
				}
				storetest.WantError(t, storetest.Unprepared(t, place).PrepareToServe(t.Context()), c.serve)
			})
		})
	}
}

// migrate creates the tables of some schemas, as another build would.
func migrate(t *testing.T, place dbtest.DB, schemas ...sqldb.Schema) {
	t.Helper()
	db, err := sqldb.Open(t.Context(), sqldb.Options{URL: place.URL, Path: filepath.Join(place.Dir, store.DatabaseName), Schemas: schemas})
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
	db, err := sqldb.Open(t.Context(), sqldb.Options{URL: place.URL, Path: filepath.Join(place.Dir, store.DatabaseName)})
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
	first := storetest.Prepared(t, place).Gate().Box()
	remove(t, keyFile(place))
	second, err := keyfile.Create(place.Dir)
	if err != nil {
		t.Fatal(err)
	}
	message := storetest.MessageOf(storetest.Unprepared(t, place).Prepare(t.Context()))
	for _, box := range []*keyfile.Box{first, second} {
		if !strings.Contains(message, keyfile.KeyName(box.Check())) {
			t.Errorf("message %q does not name %s", message, keyfile.KeyName(box.Check()))
		}
	}
}

func TestMissingKeyFileIsNotReplaced(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, place dbtest.DB) {
		f := storetest.Prepared(t, place)
		remove(t, keyFile(place))
		err := storetest.Unprepared(t, place).Prepare(t.Context())
		if !strings.Contains(storetest.MessageOf(err), keyfile.KeyName(f.Gate().Box().Check())) {
			t.Errorf("message %q does not say which key file belongs here", storetest.MessageOf(err))
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
		o := storetest.OptionsOf(place, storetest.NewClock())
		o.KeyText = string(content)
		if err := storetest.Opened(t, o).Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(keyFile(place)); err == nil {
			t.Error("a key file was made although the key is given")
		}
		if err := storetest.Opened(t, o).Prepare(t.Context()); err != nil {
			t.Errorf("the second time: %v", err)
		}
		o.KeyText = "something else"
		err = storetest.Opened(t, o).Prepare(t.Context())
		storetest.WantError(t, err, "key_unreadable")
		if strings.Contains(storetest.MessageOf(err), "something else") {
			t.Errorf("message %q shows what was given", storetest.MessageOf(err))
		}
		storetest.WantError(t, storetest.Unprepared(t, place).Prepare(t.Context()), "key_missing")
	})
}

// Two servers share one PostgreSQL database: the second needs the key file of the
// first.
func TestSecondDataFolderOnOneDatabase(t *testing.T) {
	place := dbtest.New(t, dbtest.Postgres)
	f := storetest.Prepared(t, place)
	second := place
	second.Dir = t.TempDir()
	err := storetest.Unprepared(t, second).Prepare(t.Context())
	storetest.WantError(t, err, "key_missing")
	if !strings.Contains(storetest.MessageOf(err), keyfile.KeyName(f.Gate().Box().Check())) {
		t.Errorf("message %q does not say which key file belongs here", storetest.MessageOf(err))
	}
	content, err := os.ReadFile(keyFile(place))
	if err != nil {
		t.Fatal(err)
	}
	write(t, keyFile(second), string(content))
	if err := storetest.Unprepared(t, second).Prepare(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestFolderThatCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	_, err := store.Open(t.Context(), store.Options{Dir: filepath.Join(file, "data")})
	storetest.WantError(t, err, "data_folder")
	if !strings.Contains(storetest.MessageOf(err), "not a directory") {
		t.Errorf("message %q", storetest.MessageOf(err))
	}
}

func TestMigrateBacksUpWhatIsOlder(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, place dbtest.DB) {
		migrate(t, place, peopledb.Schema)
		withContent(t, place)
		s := storetest.Unprepared(t, place)
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
		backup, err := storetest.Unprepared(t, place).Migrate(t.Context())
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
	f := storetest.Unprepared(t, far)
	storetest.WantError(t, f.PrepareToServe(t.Context()), "unavailable")
	storetest.WantError(t, f.Ready(t.Context()), "unavailable")
	proxy.Restore()
	f.Start(t, f.Database()) // waits until the keys are held
	storetest.WantError(t, f.Ready(t.Context()), "")
}

func TestRunEndsWhenTheStoreCannotBeServed(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, place dbtest.DB) {
		storetest.Prepared(t, place)
		remove(t, keyFile(place))
		storetest.WantError(t, storetest.Unprepared(t, place).Run(t.Context()), "key_missing")
	})
}

// Nothing that is written to the log shows a key or a code.
func TestLogShowsNoSecret(t *testing.T) {
	place := dbtest.New(t, dbtest.Postgres)
	proxy := dbtest.NewProxy(t, place)
	far := place
	far.URL = strings.Replace(proxy.URL, "postgres@", "postgres:geheim@", 1)
	var log bytes.Buffer
	f := storetest.New(t, far, storetest.NewClock(), store.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	f.MustImport(t, storetest.TwoShops+storetest.Lines(storetest.PurchaseText("ada", 1, "secret-code")))
	_, token := f.MustCreate(t, store.NewKey{Workspace: "ada"})
	actor := f.ActorOf(t, token)
	proxy.Cut()
	f.Validation.Close(t.Context())
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

// onMessage calls fn with each message of a log.
type onMessage struct {
	slog.Handler
	fn func(message string)
}

// Enabled is that of [slog.Handler].
func (onMessage) Enabled(context.Context, slog.Level) bool { return true }

// Handle is that of [slog.Handler].
func (o onMessage) Handle(_ context.Context, r slog.Record) error {
	o.fn(r.Message)
	return nil
}

// A package is upgraded while cron writes a backup.
func TestAMigrationWaitsForTheBackupOfAnotherProcess(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		older(t, f)
		folder := filepath.Join(f.At.Dir, "backups")
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		other := flock.New(filepath.Join(folder, "store.lock"))
		if locked, err := other.TryLock(); err != nil || !locked {
			t.Fatal(locked, err)
		}
		o := storetest.OptionsOf(f.At, f.Clock)
		var s *store.Store
		said := 0
		o.Log = slog.New(onMessage{slog.DiscardHandler, func(message string) {
			if strings.Contains(message, "waits for a backup") {
				said++
				storetest.WantError(t, s.Ready(t.Context()), "migrating")
				if err := other.Unlock(); err != nil {
					t.Error(err)
				}
			}
		}})
		s = storetest.Opened(t, o)
		storetest.WantError(t, s.BeginToServe(t.Context()), "migrating")
		if err := s.PrepareLater(t.Context()); err != nil || said != 1 {
			t.Fatalf("said so %d times, %v", said, err)
		}
		storetest.WantError(t, s.Ready(t.Context()), "")
	})
}

// The folder belongs to root after a backup that root has created.
func TestAMigrationThatCannotWriteItsBackupSaysSo(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		older(t, f)
		folder := filepath.Join(f.At.Dir, "backups")
		if err := os.WriteFile(folder, nil, 0o600); err != nil { // also root can't write into it
			t.Fatal(err)
		}
		o := storetest.OptionsOf(f.At, f.Clock)
		var s *store.Store
		said := 0
		o.Log = slog.New(onMessage{slog.DiscardHandler, func(message string) {
			if !strings.Contains(message, "can't be migrated") {
				return
			}
			said++
			err := s.Ready(t.Context())
			storetest.WantError(t, err, "migration_failed")
			if err == nil || !strings.Contains(err.Error(), folder) {
				t.Errorf("%v does not name the folder", err)
			}
			f.Clock.Move(time.Minute)
			if said == 2 {
				remove(t, folder)
			}
		}})
		s = storetest.Opened(t, o)
		storetest.WantError(t, s.BeginToServe(t.Context()), "migrating")
		if err := s.PrepareLater(t.Context()); err != nil || said != 2 {
			t.Fatalf("said so %d times, %v", said, err)
		}
		storetest.WantError(t, s.Ready(t.Context()), "")
	})
}
