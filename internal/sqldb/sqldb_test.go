package sqldb

import (
	"context"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

// Two steps of a schema of the tests' own.
const (
	firstStep  = "CREATE TABLE notes (id bigint PRIMARY KEY, text text NOT NULL)"
	secondStep = "ALTER TABLE notes ADD COLUMN done boolean NOT NULL DEFAULT false"
)

func oneStep() Schema {
	return Schema{Name: "notes", Files: fstest.MapFS{"migrations/00001_notes.sql": {Data: []byte(firstStep)}}}
}

func twoSteps() Schema {
	return Schema{Name: "notes", Files: fstest.MapFS{
		"migrations/00001_notes.sql": {Data: []byte(firstStep)},
		"migrations/00002_done.sql":  {Data: []byte(secondStep)},
	}}
}

func optionsOf(at dbtest.DB, schemas ...Schema) Options {
	return Options{URL: at.URL, Path: filepath.Join(at.Dir, "notes.db"), Schemas: schemas}
}

// open opens a test's database once more, as another process would.
func open(t testing.TB, o Options) *DB {
	t.Helper()
	db := must.Get(Open(t.Context(), o))(t)
	t.Cleanup(func() {
		expect.NoError(t, db.Close())
	})
	return db
}

// migrated opens a database with the tables of both steps.
func migrated(t testing.TB, at dbtest.DB) *DB {
	t.Helper()
	db := open(t, optionsOf(at, twoSteps()))
	must.Do(t, db.Migrate(t.Context()))
	return db
}

func addNote(ctx context.Context, q Queries, id int64) error {
	_, err := q.Exec(ctx, `INSERT INTO notes (id, text) VALUES ($1, $2)`, id, "a note")
	return err
}

// count runs a query for one number.
func count(t testing.TB, q Queries, query string, args ...any) int64 {
	t.Helper()
	n, err := One(t.Context(), q, Value[int64], query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// await receives from a channel. The time is a guard against a test that hangs,
// far beyond what anything here takes.
func await[T any](t testing.TB, from <-chan T) T {
	t.Helper()
	select {
	case value := <-from:
		return value
	case <-time.After(5 * time.Minute):
		t.Fatal("nothing came within five minutes")
		panic("unreachable")
	}
}
