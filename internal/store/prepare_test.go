package store_test

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
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/store/storetest"
)

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
		expect.NoError(t, f.Instance.Ready(t.Context()))
		f.Again(t).MustImport(t, storetest.TwoShops)
		expect.Equalf(t, f.Rows(t, "items"), 3, "items")
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
				expect.NoError(t, stores[i].Prepare(t.Context()))
			})
		}
		work.Wait()
		for _, s := range stores[1:] {
			if s.Instance.Gate.Box() == nil || !s.Instance.Gate.Box().Matches(stores[0].Instance.Gate.Box().Check()) {
				t.Error("two of them use different key files")
			}
		}
	})
}

// How a store is found, and what a command and the server make of it.
func TestPrepareByState(t *testing.T) {
	t.Parallel()
	laterStep := sqldb.Schema{Name: "store", Files: fstest.MapFS{
		"migrations/00001_store.sql": {Data: []byte("CREATE TABLE of_another_build (id bigint);")},
		"migrations/00099_later.sql": {Data: []byte("CREATE TABLE later (id bigint);")},
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
			must.Get(keyfile.Create(place.Dir))(t)
		}, "", "", ""},
		{"no key file beside a store", func(t *testing.T, place dbtest.DB) {
			storetest.Prepared(t, place)
			remove(t, keyFile(place))
		}, "key_missing", "key_missing", "is missing"},
		{"the key file of another store", func(t *testing.T, place dbtest.DB) {
			storetest.Prepared(t, place)
			remove(t, keyFile(place))
			must.Get(keyfile.Create(place.Dir))(t)
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
				if (s.Instance.Gate.Box() == nil) != (err != nil) {
					t.Errorf("a key file is loaded: %t, error %v", s.Instance.Gate.Box() != nil, err)
				}
				storetest.WantError(t, storetest.Unprepared(t, place).PrepareToServe(t.Context()), c.serve)
			})
		})
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	must.Do(t, os.Remove(path))
}

func write(t *testing.T, path, content string) {
	t.Helper()
	must.Do(t, os.WriteFile(path, []byte(content), 0o600))
}

func TestFolderThatCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	_, err := store.Open(t.Context(), store.Options{Options: instance.Options{Dir: filepath.Join(file, "data")}})
	storetest.WantError(t, err, "data_folder")
	if !strings.Contains(storetest.MessageOf(err), "not a directory") {
		t.Errorf("message %q", storetest.MessageOf(err))
	}
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
	storetest.WantError(t, f.Instance.Ready(t.Context()), "unavailable")
	proxy.Restore()
	f.Start(t, f.Instance.Database) // waits until the keys are held
	storetest.WantError(t, f.Instance.Ready(t.Context()), "")
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
	f := storetest.New(t, far, storetest.NewClock(), store.Options{Options: instance.Options{Log: slog.New(slog.NewTextHandler(&log, nil))}})
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
