package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/transfer"
)

// An import that began under the old key file has made digests that nobody will
// look for.
func TestImportThatMeetsARekeyWritesNothing(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		other := f.again(t)
		file := lines(purchaseText("ada", 1, "one"), purchaseText("ada", 1, "two"), purchaseText("ada", 1, "three"), purchaseText("ada", 1, "four"))
		_, err := f.Transfer.Import(t.Context(), operator, &meddler{strings.NewReader(file + strings.Repeat(" ", 200_000)), func() {
			if _, err := other.Rekey(t.Context(), operator); err != nil {
				t.Error(err)
			}
		}}, transfer.ImportOptions{})
		wantError(t, err, "key_replaced")
		if f.rows(t, "purchases") != 0 {
			t.Error("purchases were written")
		}
		_, err = f.CreatePurchase(t.Context(), operator, "ada", Purchase{ItemID: 1, License: "Regular"})
		wantError(t, err, "key_replaced")
		_, _, err = f.CreateKey(t.Context(), operator, NewKey{Workspace: "ada", Name: "a", Class: ClassSecret})
		wantError(t, err, "key_replaced")
		other.mustImport(t, file)
	})
}

func TestServerThatMissedARekeyStops(t *testing.T) {
	t.Parallel()
	place := twoShopsStore.New(t, dbtest.Postgres)
	r := newRekeyable(t, place)
	proxy := dbtest.NewProxy(t, place)
	far := place
	far.URL = proxy.URL
	server := prepared(t, far)
	lost := make(chan struct{}, 100)
	server.database.Watch(sqldb.Watcher{Changed: func(string, string) {}, Lost: func() { lost <- struct{}{} }, Live: func() {}})
	live := server.feedLive()
	ended := make(chan error, 1)
	go func() { ended <- server.Run(t.Context()) }()
	await(t, live)
	proxy.Cut()
	await(t, lost)
	if _, err := r.unlocked(t).Rekey(t.Context(), operator); err != nil {
		t.Fatal(err)
	}
	proxy.Restore()
	wantError(t, await(t, ended), "key_replaced")
}

// Beside a server on another machine a rekey of the database can't be seen in the
// data folder.
func TestServerStopsWhenItsKeyFileWasReplaced(t *testing.T) {
	t.Parallel()
	twoShopsStore.Engines(t, func(t *testing.T, place dbtest.DB) {
		r := newRekeyable(t, place)
		server := r.again(t)
		live := server.feedLive()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := make(chan error, 1)
		go func() { ended <- server.Run(ctx) }()
		await(t, live)
		r.wantServed(t, server)
		actor := server.actorOf(t, r.tokens["plain"])
		if _, err := r.unlocked(t).Rekey(t.Context(), operator); err != nil {
			t.Fatal(err)
		}
		wantError(t, await(t, ended), "key_replaced")
		_, err := server.Validation.Authenticate(t.Context(), r.tokens["plain"], client)
		wantError(t, err, "unavailable")
		_, err = server.Validation.Validate(t.Context(), actor, "Code-A")
		wantError(t, err, "unavailable")
		wantError(t, server.Ready(t.Context()), "unavailable")
	})
}

// A key file that is there and can't be read is not lost: a rekey would drop what
// it still opens.
func TestRekeyRefusesWhileTheKeyFileCantBeRead(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		path := filepath.Join(f.at.Dir, keyfile.FileName)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(path, 0o700); err != nil { // can't be read, also not by root
			t.Fatal(err)
		}
		s := opened(t, optionsOf(f.at, f.clock))
		wantError(t, s.Prepare(t.Context()), "data_folder")
		_, err := s.Rekey(t.Context(), operator)
		wantError(t, err, "data_folder")
		if _, err := os.Stat(filepath.Join(f.at.Dir, keyfile.FileName+".new")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a new key file was staged: %v", err)
		}
	})
}
