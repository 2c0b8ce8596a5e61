package sqldb

import (
	"fmt"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
)

func TestAStatementRunsWhileItsOwnRowsAreRead(t *testing.T) {
	db := migrated(t, dbtest.New(t, dbtest.SQLite))
	const query = `SELECT id FROM notes WHERE id > $1 ORDER BY id`
	err := db.Tx(t.Context(), func(q Queries) error {
		for id := range int64(3) {
			if err := addNote(t.Context(), q, id); err != nil {
				return err
			}
		}
		var seen []string
		err := Each(t.Context(), q, func(r Row) error {
			outer, err := Value[int64](r)
			if err != nil {
				return err
			}
			inner, err := List(t.Context(), q, Value[int64], query, outer)
			seen = append(seen, fmt.Sprint(outer, inner))
			return err
		}, query, -1)
		if want := "[0 [1 2] 1 [2] 2 []]"; fmt.Sprint(seen) != want {
			t.Errorf("seen %v, want %s", seen, want)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
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
	if n := all(); n != 0 {
		t.Errorf("%d notes in a new table, want 0", n)
	}
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
