package sqldb

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

func wantUnavailable(t testing.TB, err error) {
	t.Helper()
	var apiErr *countersign.Error
	if !errors.As(err, &apiErr) || apiErr.Kind != countersign.KindUnavailable {
		t.Errorf("error %v (%T), want one of kind Unavailable", err, err)
	} else if apiErr.RetryAfter <= 0 {
		t.Errorf("error %v does not say when to try again", err)
	}
}

func TestRowThatExists(t *testing.T) {
	cases := []struct{ name, statement string }{
		{"the primary key is taken", `INSERT INTO marks (id, name) VALUES (1, 'b')`},
		{"a unique value is taken", `INSERT INTO marks (id, name) VALUES (2, 'a')`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
				db := open(t, optionsOf(at))
				exec(t, db, `CREATE TABLE marks (id bigint PRIMARY KEY, name text UNIQUE)`)
				exec(t, db, `INSERT INTO marks (id, name) VALUES (1, 'a')`)
				if _, err := db.Queries().Exec(t.Context(), c.statement); !errors.Is(err, ErrExists) {
					t.Errorf("error %v, want ErrExists", err)
				}
			})
		})
	}
}

func TestOtherConstraintsAreNotErrExists(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := open(t, optionsOf(at))
		exec(t, db, `CREATE TABLE parents (id bigint PRIMARY KEY)`)
		exec(t, db, `CREATE TABLE marks (id bigint PRIMARY KEY CHECK (id > 0), name text NOT NULL, parent bigint REFERENCES parents)`)
		for _, statement := range []string{
			`INSERT INTO marks (id, name) VALUES (0, 'a')`,
			`INSERT INTO marks (id, name) VALUES (1, NULL)`,
			`INSERT INTO marks (id, name, parent) VALUES (1, 'a', 5)`,
		} {
			_, err := db.Queries().Exec(t.Context(), statement)
			if err == nil || errors.Is(err, ErrExists) {
				t.Errorf("%s: %v", statement, err)
			}
		}
	})
}

func TestNoRowIsErrNotFound(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at)
		if _, err := One(t.Context(), db.Queries(), Value[int64], `SELECT id FROM notes`); !errors.Is(err, ErrNotFound) {
			t.Errorf("One: %v, want ErrNotFound", err)
		}
		var id int64
		if err := db.Lookup(`SELECT id FROM notes WHERE `+anyNumber+` AND id = $2`).Row(t.Context(), 1, 1, &id); !errors.Is(err, ErrNotFound) {
			t.Errorf("Lookup: %v, want ErrNotFound", err)
		}
	})
}

func TestReadOnlyDatabase(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		migrated(t, at)
		o := optionsOf(at, twoSteps())
		if at.Engine == dbtest.Postgres {
			o.URL = withParam(t, at.URL, "default_transaction_read_only", "on")
		}
		db := open(t, o)
		if at.Engine == dbtest.SQLite {
			exec(t, db, `PRAGMA query_only = 1`)
		}
		wantUnavailable(t, db.Tx(t.Context(), func(q Queries) error { return addNote(t.Context(), q, 1) }))
		expect.Equalf(t, count(t, db.Queries(), `SELECT count(*) FROM notes`), 0, "notes")
	})
}

func TestWriterThatWaitsTooLongIsToldToComeBack(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		first := migrated(t, at)
		o := optionsOf(at, twoSteps())
		if at.Engine == dbtest.Postgres {
			o.URL = withParam(t, at.URL, "lock_timeout", "20") // milliseconds
		}
		second := open(t, o)
		if at.Engine == dbtest.SQLite {
			second.limits.begin = 20 * time.Millisecond
		}
		must.Do(t, first.Tx(t.Context(), func(q Queries) error {
			if err := addNote(t.Context(), q, 1); err != nil {
				return err
			}
			wantUnavailable(t, second.Tx(t.Context(), func(q Queries) error { return addNote(t.Context(), q, 1) }))
			count(t, second.Queries(), `SELECT count(*) FROM notes`)
			return nil
		}))
		expect.NoErrorf(t, second.Tx(t.Context(), func(q Queries) error { return addNote(t.Context(), q, 2) }), "after the first writer")
	})
}

// A caller that gives up is not a fault of the database.
func TestCallerThatGivesUp(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at)
		ctx, cancel := context.WithCancel(t.Context())
		slow := `SELECT n FROM (WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2000000000)
			SELECT n FROM numbers) numbers`
		err := Each(ctx, db.Queries(), Value[int64], func(int64) error { cancel(); return nil }, slow)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want context.Canceled", err)
		}
		expect.NoError(t, db.Ping(t.Context()))
	})
}
