package sqldb

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

// appendNotes appends notes with ids from one on.
func appendNotes(t *testing.T, q Queries, from, rows int) error {
	return q.Append(t.Context(), "notes", []string{"id", "text"}, rows, func(i int, values []any) {
		values[0], values[1] = int64(from+i), fmt.Sprintf("note %d é", from+i)
	})
}

func TestAppendedRowsBelongToTheTransaction(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at)
		failure := errors.New("failure")
		for _, want := range []error{failure, nil} {
			err := db.Tx(t.Context(), func(q Queries) error {
				return errors.Join(appendNotes(t, q, 1, 3000), appendNotes(t, q, 5000, 0), want)
			})
			if !errors.Is(err, want) {
				t.Fatal(err)
			}
			rows := int64(3000)
			if want != nil {
				rows = 0
			}
			expect.Equalf(t, count(t, db.Queries(), `SELECT count(*) FROM notes`), rows, "rows")
		}
		if text, err := One(t.Context(), db.Queries(), Value[string], `SELECT text FROM notes WHERE id = $1`, 2999); err != nil || text != "note 2999 é" {
			t.Errorf("%q, %v", text, err)
		}
		if err := appendNotes(t, db.Queries(), 1, 1); !errors.Is(err, errNotInTx) {
			t.Errorf("outside a transaction: %v", err)
		}
	})
}

func TestARelaxedFileIsSyncedAtCheckpointsAndCountsNoCommits(t *testing.T) {
	o := optionsOf(dbtest.New(t, dbtest.SQLite), twoSteps())
	o.Relaxed = true
	db := open(t, o)
	must.Do(t, db.Migrate(t.Context()))
	for range 2 {
		if err := db.Tx(t.Context(), func(q Queries) error { return appendNotes(t, q, 1, 10) }); err != nil {
			t.Fatal(err) // the second time, the rows are there and stay
		}
	}
	var synchronous string
	if err := db.write.QueryRow("PRAGMA synchronous").Scan(&synchronous); err != nil || synchronous != "1" {
		t.Errorf("synchronous is %q, %v; want 1", synchronous, err)
	}
	db.lastCommits()
	if _, err := os.Stat(CommitFile(o.Path)); !os.IsNotExist(err) {
		t.Errorf("%s: %v", filepath.Base(CommitFile(o.Path)), err)
	}
	expect.Equalf(t, count(t, db.Queries(), `SELECT count(*) FROM notes`), 10, "rows")
}
