package sqldb

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhichIdleReaderIsTaken(t *testing.T) {
	first, second, busy := new(reader), new(reader), new(reader)
	cases := []struct {
		name string
		idle []*reader
		near *reader
		want *reader
	}{
		{"the one that this processor used last", []*reader{nil, first, second}, first, first},
		{"the one used last by any, when that one is in use", []*reader{nil, first, second}, busy, second},
		{"the one used last by any, when this processor used none", []*reader{nil, first, second}, nil, second},
		{"one that is to be opened, when there is no other", []*reader{nil, nil}, busy, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := &readers{idle: c.idle}
			n := len(c.idle)
			if got := r.takeIdle(c.near); got != c.want {
				t.Errorf("took %p, want %p", got, c.want)
			}
			if len(r.idle) != n-1 {
				t.Errorf("%d are idle of %d", len(r.idle), n)
			}
		})
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
	if err := look(0); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, int64(len(whole)/2/pageBytes*pageBytes)); err != nil {
		t.Fatal(err)
	}
	if err := look(199); err == nil || errors.Is(err, ErrNotFound) {
		t.Errorf("a row whose page is gone: %v", err)
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := look(199); err != nil {
		t.Errorf("when the page is back: %v", err)
	}
}
