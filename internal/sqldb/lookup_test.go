package sqldb

import (
	"context"
	"sync"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
)

// anyBlob makes use of a look-up's first argument.
const anyBlob = `CAST($1 AS bytea) IS NOT NULL`

func TestLookupServesManyAtOnce(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at)
		exec(t, db, `INSERT INTO notes (id, text) VALUES (1, 'one'), (2, 'two')`)
		lookup := db.Lookup(`SELECT text FROM notes WHERE ` + anyBlob + ` AND id = $2`)
		var work sync.WaitGroup
		for i := range 50 {
			work.Go(func() {
				var got string
				id, want := int64(1+i%2), []string{"one", "two"}[i%2]
				if err := lookup.Row(t.Context(), []byte{1}, id, &got); err != nil || got != want {
					t.Errorf("row %d is %q, %v", id, got, err)
				}
			})
		}
		work.Wait()
	})
}

func TestLookupSeesWhatOthersCommitted(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at)
		other := open(t, optionsOf(at, twoSteps()))
		lookup := db.Lookup(`SELECT count(*) FROM notes WHERE ` + anyBlob + ` AND id >= $2`)
		for want := range int64(3) {
			var got int64
			if err := lookup.Row(t.Context(), []byte{1}, 0, &got); err != nil || got != want {
				t.Errorf("%d notes, %v; want %d", got, err, want)
			}
			if err := other.Tx(t.Context(), func(q Queries) error { return addNote(t.Context(), q, want) }); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestLookupOutlivesItsConnections(t *testing.T) {
	at := dbtest.New(t, dbtest.Postgres)
	migrated(t, at)
	proxy := dbtest.NewProxy(t, at)
	db := open(t, Options{URL: proxy.URL})
	lookup := db.Lookup(`SELECT count(*) FROM notes WHERE ` + anyBlob + ` AND id >= $2`)
	var n int64
	proxy.Cut()
	wantUnavailable(t, lookup.Row(t.Context(), []byte{1}, 0, &n)) // down at its first use
	proxy.Restore()
	if err := lookup.Row(t.Context(), []byte{1}, 0, &n); err != nil {
		t.Fatal(err)
	}
	proxy.Cut()
	wantUnavailable(t, lookup.Row(t.Context(), []byte{1}, 0, &n)) // down later
	proxy.Restore()
	if err := lookup.Row(t.Context(), []byte{1}, 0, &n); err != nil {
		t.Error(err)
	}
}

// follow runs the feed until the test ends and returns when it is live. told
// receives every change by others.
func follow(t *testing.T, db *DB) (told <-chan string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	live, changes, ended := make(chan struct{}, 1), make(chan string, 100), make(chan struct{})
	db.Watch(Watcher{
		Changed: func(topic, _ string) { changes <- topic },
		Lost:    func() {},
		Live:    func() { live <- struct{}{} },
	})
	go func() { db.Feed(ctx); close(ended) }()
	t.Cleanup(func() { stop(); <-ended })
	<-live
	return changes
}

func TestLookupHoldsNothingOlderThanTheLastCommit(t *testing.T) {
	at := dbtest.New(t, dbtest.SQLite)
	db := migrated(t, at)
	other := open(t, optionsOf(at, twoSteps()))
	told := follow(t, db)
	lookup := db.Lookup(`SELECT count(*) FROM notes WHERE ` + anyBlob + ` AND id >= $2`)
	count := func() (n int64) {
		t.Helper()
		if err := lookup.Row(t.Context(), []byte{1}, 0, &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	add := func(to *DB, id int64) {
		t.Helper()
		err := to.Tx(t.Context(), func(q Queries) error {
			if err := q.Mark(t.Context(), "notes", ""); err != nil {
				return err
			}
			return addNote(t.Context(), q, id)
		})
		if err != nil {
			t.Fatal(err)
		}
		<-told
	}
	for range cap(lookup.readers.idle) { // every reader has a snapshot now
		count()
	}
	add(db, 1)
	for range cap(lookup.readers.idle) {
		if n := count(); n != 1 {
			t.Errorf("%d notes after a commit of this process, want 1", n)
		}
	}
	add(other, 2)
	for range cap(lookup.readers.idle) {
		if n := count(); n != 2 {
			t.Errorf("%d notes after another process's commit was told, want 2", n)
		}
	}
}

func TestLookupsLetTheLogBeReset(t *testing.T) {
	db := migrated(t, dbtest.New(t, dbtest.SQLite))
	follow(t, db)
	lookup := db.Lookup(`SELECT count(*) FROM notes WHERE ` + anyBlob + ` AND id >= $2`)
	for id := range int64(10) {
		var n int64
		if err := lookup.Row(t.Context(), []byte{1}, 0, &n); err != nil {
			t.Fatal(err)
		}
		if err := db.Tx(t.Context(), func(q Queries) error { return addNote(t.Context(), q, id) }); err != nil {
			t.Fatal(err)
		}
	}
	var busy, log, checkpointed int64
	err := db.write.QueryRowContext(t.Context(), `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &log, &checkpointed)
	if err != nil || busy != 0 || log != 0 {
		t.Errorf("busy %d, %d pages in the log, %v; want an empty log", busy, log, err)
	}
}
