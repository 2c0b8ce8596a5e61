package store_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/store/transfer"
)

// An import that began under the old key file has made digests that nobody will
// look for.
func TestImportThatMeetsARekeyWritesNothing(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		other := f.Again(t)
		file := storetest.Lines(storetest.PurchaseText("ada", 1, "one"), storetest.PurchaseText("ada", 1, "two"), storetest.PurchaseText("ada", 1, "three"), storetest.PurchaseText("ada", 1, "four"))
		_, err := f.Transfer.Import(t.Context(), storetest.Operator, storetest.NewMeddler(strings.NewReader(file+strings.Repeat(" ", 200_000)), func() {
			if _, err := other.Rekey(t.Context(), storetest.Operator); err != nil {
				t.Error(err)
			}
		}), transfer.ImportOptions{})
		storetest.WantError(t, err, "key_replaced")
		expect.Equalf(t, f.Rows(t, "purchases"), 0, "purchases were written")
		_, err = f.CreatePurchase(t.Context(), storetest.Operator, "ada", store.Purchase{ItemID: 1, License: "Regular"})
		storetest.WantError(t, err, "key_replaced")
		_, _, err = f.CreateKey(t.Context(), storetest.Operator, store.NewKey{Workspace: "ada", Name: "a", Class: store.ClassSecret})
		storetest.WantError(t, err, "key_replaced")
		other.MustImport(t, file)
	})
}

func TestServerThatMissedARekeyStops(t *testing.T) {
	t.Parallel()
	place := storetest.TwoShopsStore.New(t, dbtest.Postgres)
	r := newRekeyable(t, place)
	proxy := dbtest.NewProxy(t, place)
	far := place
	far.URL = proxy.URL
	server := storetest.Prepared(t, far)
	lost := make(chan struct{}, 100)
	server.Instance.Database.Watch(sqldb.Watcher{Changed: func(string, string) {}, Lost: func() { lost <- struct{}{} }, Live: func() {}})
	live := storetest.FeedLive(server.Instance.Database)
	ended := make(chan error, 1)
	go func() { ended <- server.Run(t.Context()) }()
	storetest.Await(t, live)
	proxy.Cut()
	storetest.Await(t, lost)
	r.unlocked(t).MustRekey(t)
	proxy.Restore()
	storetest.WantError(t, storetest.Await(t, ended), "key_replaced")
}

// Beside a server on another machine a rekey of the database can't be seen in the
// data folder.
func TestServerStopsWhenItsKeyFileWasReplaced(t *testing.T) {
	t.Parallel()
	storetest.TwoShopsStore.Engines(t, func(t *testing.T, place dbtest.DB) {
		r := newRekeyable(t, place)
		server := r.Again(t)
		live := storetest.FeedLive(server.Instance.Database)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := make(chan error, 1)
		go func() { ended <- server.Run(ctx) }()
		storetest.Await(t, live)
		r.wantServed(t, server)
		actor := server.ActorOf(t, r.tokens["plain"])
		r.unlocked(t).MustRekey(t)
		storetest.WantError(t, storetest.Await(t, ended), "key_replaced")
		_, err := server.Validation.Authenticate(t.Context(), r.tokens["plain"], storetest.Client)
		storetest.WantError(t, err, "unavailable")
		_, err = server.Validation.Validate(t.Context(), actor, "Code-A")
		storetest.WantError(t, err, "unavailable")
		storetest.WantError(t, server.Instance.Ready(t.Context()), "unavailable")
	})
}

// A key file that is there and can't be read is not lost: a rekey would drop what
// it still opens.
func TestRekeyRefusesWhileTheKeyFileCantBeRead(t *testing.T) {
	storetest.Engines(t, func(t *testing.T, f *storetest.Fixture) {
		path := filepath.Join(f.At.Dir, keyfile.FileName)
		must.Do(t, os.Remove(path))
		if err := os.Mkdir(path, 0o700); err != nil { // can't be read, also not by root
			t.Fatal(err)
		}
		s := f.Unprepared(t)
		storetest.WantError(t, s.Prepare(t.Context()), "data_folder")
		_, err := s.Rekey(t.Context(), storetest.Operator)
		storetest.WantError(t, err, "data_folder")
		if _, err := os.Stat(filepath.Join(f.At.Dir, keyfile.FileName+".new")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a new key file was staged: %v", err)
		}
	})
}
