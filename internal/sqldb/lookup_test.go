package sqldb

import (
	"sync"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
)

func TestLookupServesManyAtOnce(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at)
		exec(t, db, `INSERT INTO notes (id, text) VALUES (1, 'one'), (2, 'two')`)
		lookup := db.Lookup(`SELECT text FROM notes WHERE id = $1`)
		var work sync.WaitGroup
		for i := range 50 {
			work.Go(func() {
				var got string
				id, want := 1+i%2, []string{"one", "two"}[i%2]
				if err := lookup.Row(t.Context(), []any{id}, &got); err != nil || got != want {
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
		lookup := db.Lookup(`SELECT count(*) FROM notes`)
		for want := range 3 {
			var got int
			if err := lookup.Row(t.Context(), nil, &got); err != nil || got != want {
				t.Errorf("%d notes, %v; want %d", got, err, want)
			}
			if err := other.Tx(t.Context(), func(q Queries) error { return addNote(t.Context(), q, int64(want)) }); err != nil {
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
	lookup := db.Lookup(`SELECT count(*) FROM notes`)
	var n int
	proxy.Cut()
	wantUnavailable(t, lookup.Row(t.Context(), nil, &n)) // down at its first use
	proxy.Restore()
	if err := lookup.Row(t.Context(), nil, &n); err != nil {
		t.Fatal(err)
	}
	proxy.Cut()
	wantUnavailable(t, lookup.Row(t.Context(), nil, &n)) // down later
	proxy.Restore()
	if err := lookup.Row(t.Context(), nil, &n); err != nil {
		t.Error(err)
	}
}
