package sqldb

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

var errAct = errors.New("the act failed")

func TestTxCommitsAllOrNothing(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		act  func(ctx context.Context, q Queries) error
		want int64 // notes afterwards
		err  error
	}{
		{"an act without error is committed", func(ctx context.Context, q Queries) error {
			return errors.Join(addNote(ctx, q, 1), addNote(ctx, q, 2))
		}, 2, nil},
		{"an error rolls everything back", func(ctx context.Context, q Queries) error {
			return errors.Join(addNote(ctx, q, 1), errAct)
		}, 0, errAct},
		{"a statement that failed rolls everything back", func(ctx context.Context, q Queries) error {
			return errors.Join(addNote(ctx, q, 1), addNote(ctx, q, 1))
		}, 0, ErrExists},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
				db := migrated(t, at)
				err := db.Tx(t.Context(), func(q Queries) error { return c.act(t.Context(), q) })
				if !errors.Is(err, c.err) {
					t.Errorf("error %v, want %v", err, c.err)
				}
				expect.Equalf(t, count(t, db.Queries(), `SELECT count(*) FROM notes`), c.want, "notes")
			})
		})
	}
}

func TestPanicRollsBackAndFreesTheWriter(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at)
		func() {
			defer func() { _ = recover() }()
			_ = db.Tx(t.Context(), func(q Queries) error {
				_ = addNote(t.Context(), q, 1)
				panic("in a transaction")
			})
		}()
		must.Do(t, db.Tx(t.Context(), func(q Queries) error { return addNote(t.Context(), q, 1) }))
	})
}

func TestTxCancelledInBetweenWritesNothing(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at)
		ctx, cancel := context.WithCancel(t.Context())
		err := db.Tx(ctx, func(q Queries) error {
			if err := addNote(ctx, q, 1); err != nil {
				return err
			}
			cancel()
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want context.Canceled", err)
		}
		expect.Equalf(t, count(t, db.Queries(), `SELECT count(*) FROM notes`), 0, "notes were written")
		expect.NoErrorf(t, db.Tx(t.Context(), func(q Queries) error { return addNote(t.Context(), q, 2) }), "the next transaction")
	})
}

func TestSnapshotSeesOneView(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at)
		other := open(t, optionsOf(at, twoSteps()))
		must.Do(t, db.Snapshot(t.Context(), func(view Queries) error {
			before := count(t, view, `SELECT count(*) FROM notes`)
			if err := other.Tx(t.Context(), func(q Queries) error { return addNote(t.Context(), q, 1) }); err != nil {
				return err
			}
			if after := count(t, view, `SELECT count(*) FROM notes`); after != before {
				t.Errorf("the view changed from %d to %d notes", before, after)
			}
			return nil
		}))
		expect.Equalf(t, count(t, db.Queries(), `SELECT count(*) FROM notes`), 1, "notes after the view")
	})
}

func TestSnapshotCannotWrite(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at)
		err := db.Snapshot(t.Context(), func(view Queries) error { return addNote(t.Context(), view, 1) })
		wantUnavailable(t, err)
	})
}

func TestALockedRowWaitsForTheEndOfTheTransaction(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at)
		other := open(t, optionsOf(at, twoSteps()))
		exec(t, db, `INSERT INTO notes (id, text) VALUES (1, 'one'), (2, 'two')`)
		impatient := `SELECT 1 FROM notes WHERE id = 1 FOR UPDATE NOWAIT`
		if other.engine == SQLite {
			other.limits.begin = 20 * time.Millisecond
			impatient = `UPDATE notes SET text = 'changed' WHERE id = 1`
		}
		change := func() error {
			_, err := other.Queries().Exec(t.Context(), impatient)
			return err
		}
		err := db.Tx(t.Context(), func(q Queries) error {
			if err := q.Lock(t.Context(), "notes", "id", 1); err != nil {
				return err
			}
			if change() == nil {
				t.Error("somebody else had the row meanwhile")
			}
			return nil
		})
		if err == nil {
			err = change()
		}
		if err != nil {
			t.Error(err)
		}
	})
}

func TestSessionTakesNoWriteLock(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at)
		other := open(t, optionsOf(at, twoSteps()))
		must.Do(t, db.Session(t.Context(), func(session *DB) error {
			ctx, q := t.Context(), session.Queries()
			if _, err := q.Exec(ctx, `CREATE TEMPORARY TABLE stage (line integer PRIMARY KEY, text text)`); err != nil {
				return err
			}
			bulk := session.Bulk("stage", "line", "text")
			for i := range 3 * bulkRows {
				if err := bulk.Add(ctx, i, "staged"); err != nil {
					return err
				}
				if i%bulkRows == 1 {
					if err := other.Tx(ctx, func(q Queries) error { return addNote(ctx, q, int64(i)) }); err != nil {
						return err
					}
				}
			}
			if err := bulk.Flush(ctx); err != nil {
				return err
			}
			return session.Tx(ctx, func(q Queries) error {
				_, err := q.Exec(ctx, `INSERT INTO notes (id, text) SELECT 100000 + line, text FROM stage`)
				return err
			})
		}))
		expect.Equalf(t, count(t, db.Queries(), `SELECT count(*) FROM notes`), 3*bulkRows+3, "notes")
	})
}

func TestSessionEndsWithItsTables(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at)
		for range 2 {
			must.Do(t, db.Session(t.Context(), func(session *DB) error {
				_, err := session.Queries().Exec(t.Context(), `CREATE TEMPORARY TABLE stage (line integer)`)
				return err
			}))
		}
	})
}

// exec runs a statement on the writing connection.
func exec(t testing.TB, db *DB, statement string, args ...any) {
	t.Helper()
	if _, err := db.Queries().Exec(t.Context(), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func TestAStatementAfterTheEndOfItsContextIsNotCommitted(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at)
		ctx, end := context.WithCancel(t.Context())
		err := db.Tx(ctx, func(q Queries) error {
			end()
			return addNote(ctx, q, 1)
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want context.Canceled", err)
		}
		expect.Equalf(t, count(t, db.Queries(), `SELECT count(*) FROM notes`), 0, "notes were written")
	})
}
