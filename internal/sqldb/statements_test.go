package sqldb

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

func TestAStatementRunsWhileItsOwnRowsAreRead(t *testing.T) {
	db := migrated(t, dbtest.New(t, dbtest.SQLite))
	const query = `SELECT id FROM notes WHERE id > $1 ORDER BY id`
	must.Do(t, db.Tx(t.Context(), func(q Queries) error {
		for id := range int64(3) {
			if err := addNote(t.Context(), q, id); err != nil {
				return err
			}
		}
		var seen []string
		err := Each(t.Context(), q, Value[int64], func(outer int64) error {
			inner, err := List(t.Context(), q, Value[int64], query, outer)
			seen = append(seen, fmt.Sprint(outer, inner))
			return err
		}, query, -1)
		if want := "[0 [1 2] 1 [2] 2 []]"; fmt.Sprint(seen) != want {
			t.Errorf("seen %v, want %s", seen, want)
		}
		return err
	}))
}

func TestAKeptStatementFollowsItsTable(t *testing.T) {
	db := migrated(t, dbtest.New(t, dbtest.SQLite))
	exec(t, db, `INSERT INTO notes (id, text) VALUES ($1, $2)`, 1, "one")
	all := func() int64 { return count(t, db.Queries(), `SELECT count(*) FROM notes WHERE id >= $1`, 0) }
	if n := all(); n != 1 {
		t.Fatalf("%d notes, want 1", n)
	}
	exec(t, db, `ALTER TABLE notes RENAME TO old_notes`)
	exec(t, db, `CREATE TABLE notes (id bigint)`)
	expect.Equalf(t, all(), 0, "notes in a new table")
}

func TestMoreStatementsThanAreKept(t *testing.T) {
	db := migrated(t, dbtest.New(t, dbtest.SQLite))
	for range 2 {
		for i := range int64(maxStatements + 10) {
			if n := count(t, db.Queries(), fmt.Sprintf(`SELECT %d + $1`, i), 1); n != i+1 {
				t.Fatalf("%d + 1 is %d", i, n)
			}
		}
	}
}

func TestAStatementThatWasBrokenOffRunsAgain(t *testing.T) {
	db := migrated(t, dbtest.New(t, dbtest.SQLite))
	const counting = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1) SELECT count(*) FROM n`
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if n, err := One(short, db.Queries(), Value[int64], counting, int64(1)<<60); err == nil {
		t.Fatalf("it counted to %d", n)
	}
	expect.Equalf(t, count(t, db.Queries(), counting, 10), 10, "counted to")

	const adding = `INSERT INTO notes (id, text) VALUES ($1, 'a'), ($2, 'b') RETURNING id`
	enough := errors.New("enough")
	must.Do(t, db.Tx(t.Context(), func(q Queries) error {
		one := func(int64) error { return enough }
		if err := Each(t.Context(), q, Value[int64], one, adding, 1, 2); !errors.Is(err, enough) {
			return fmt.Errorf("the first row: %w", err)
		}
		ids, err := List(t.Context(), q, Value[int64], adding, 3, 4)
		expect.Equalf(t, len(ids), 2, "added %v", ids)
		return err
	}))
	expect.Equalf(t, count(t, db.Queries(), `SELECT count(*) FROM notes WHERE id > $1`, 0), 4, "notes")
}
