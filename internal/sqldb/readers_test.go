package sqldb

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

func TestTheReaderThatWasUsedLastIsTaken(t *testing.T) {
	first, second := new(reader), new(reader)
	r := &readers{inUse: make(chan struct{}, 3), idle: []*reader{nil, first, second}}
	for i, want := range []*reader{second, first, nil} {
		if got, err := r.take(t.Context()); err != nil || got != want {
			t.Errorf("take %d: %p, %v, want %p", i+1, got, err, want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.take(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("all are in use: %v, want context.Canceled", err)
	}
	r.put(first)
	if got, err := r.take(t.Context()); err != nil || got != first {
		t.Errorf("after one was put back: %p, %v, want %p", got, err, first)
	}
}

func TestLookupOfAPageThatIsGoneEndsNoProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	fill := openAt(t, path)
	err := fill.Tx(t.Context(), func(q Queries) error {
		if _, err := q.Exec(t.Context(), `CREATE TABLE notes (id integer PRIMARY KEY, text text NOT NULL)`); err != nil {
			return err
		}
		for id := range 200 {
			if _, err := q.Exec(t.Context(), `INSERT INTO notes (id, text) VALUES ($1, $2)`, id, strings.Repeat("x", pageBytes/2)); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(err, fill.Close()); err != nil { // which brings all into the file
		t.Fatal(err)
	}

	db := openAt(t, path)
	db.snapshots.follow(true) // the mapping is looked at anew with each snapshot alone
	lookup := db.Lookup(`SELECT text FROM notes WHERE ` + anyNumber + ` AND id = $2`)
	look := func(id int64) error {
		var text string
		return lookup.Row(t.Context(), 1, id, &text)
	}
	must.Do(t, look(0))
	whole := must.Get(os.ReadFile(path))(t)
	must.Do(t, os.Truncate(path, int64(len(whole)/2/pageBytes*pageBytes)))
	if err := look(199); err == nil || errors.Is(err, ErrNotFound) {
		t.Errorf("a row whose page is gone: %v", err)
	}
	must.Do(t, os.WriteFile(path, whole, 0o600))
	expect.NoErrorf(t, look(199), "when the page is back")
}
