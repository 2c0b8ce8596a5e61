package sqldb

import (
	"bytes"
	"math"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/google/go-cmp/cmp"
)

// bulkRow has a field for every type of column; a nil is NULL.
type bulkRow struct {
	Line  int64
	Big   *int64
	Text  *string
	Yes   *bool
	Bytes []byte
	At    Time
	List  []string
}

func bulkRowsOfAllKinds() []bulkRow {
	at := Time{time.Date(2024, 4, 27, 12, 0, 0, 0, time.UTC)}
	odd := "tab\t, newline\n, quote \", backslash \\, \\N, NULL, é, 😀, \u2028"
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	return []bulkRow{
		{Line: 1, Big: new(int64(math.MaxInt64)), Text: &odd, Yes: new(true), Bytes: all, At: at, List: []string{"a", "b"}},
		{Line: 2, Big: new(int64(math.MinInt64)), Text: new(""), Yes: new(false), Bytes: []byte{}, At: at, List: []string{}},
		{Line: 3},
	}
}

func TestBulkKeepsEveryKindOfValue(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at)
		want := bulkRowsOfAllKinds()
		for i := range 2*bulkRows + 1 { // more than one batch
			want = append(want, bulkRow{Line: int64(10 + i), Text: new("filler")})
		}
		var got []bulkRow
		must.Do(t, db.Session(t.Context(), func(session *DB) (err error) {
			exec(t, session, `CREATE TEMPORARY TABLE stage (line integer PRIMARY KEY, big bigint, words text, yes boolean,
				bytes `+map[Engine]string{SQLite: "blob", Postgres: "bytea"}[db.engine]+`, at text, list text)`)
			bulk := session.Bulk("stage", "line", "big", "words", "yes", "bytes", "at", "list")
			for _, r := range want {
				if err := bulk.Add(t.Context(), r.Line, orNull(r.Big), orNull(r.Text), orNull(r.Yes), bytesOrNull(r.Bytes),
					r.At, JSON[[]string]{r.List}); err != nil {
					return err
				}
			}
			if err := bulk.Flush(t.Context()); err != nil {
				return err
			}
			got, err = List(t.Context(), session.Queries(), scanBulkRow, `SELECT line, big, words, yes, bytes, at, list FROM stage ORDER BY line`)
			return err
		}))
		expect.Equal(t, cmp.Diff(want, got, cmp.Comparer(bytes.Equal)), "")
	})
}

func TestBulkWithoutRows(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at)
		must.Do(t, db.Session(t.Context(), func(session *DB) error {
			return session.Bulk("notes", "id", "text").Flush(t.Context())
		}))
	})
}

func TestBulkRefusesWhatTheTableRefuses(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at)
		err := db.Session(t.Context(), func(session *DB) error {
			exec(t, session, `CREATE TEMPORARY TABLE stage (line integer PRIMARY KEY, words text NOT NULL)`)
			bulk := session.Bulk("stage", "line", "words")
			if err := bulk.Add(t.Context(), 1, nil); err != nil {
				return err
			}
			return bulk.Flush(t.Context())
		})
		if err == nil {
			t.Error("a NULL went into a column that has none")
		}
	})
}

func orNull[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

func bytesOrNull(b []byte) any {
	if b == nil {
		return nil
	}
	return b
}

func scanBulkRow(r Row) (bulkRow, error) {
	var row bulkRow
	var list JSON[[]string]
	err := r.Scan(&row.Line, &row.Big, &row.Text, &row.Yes, &row.Bytes, &row.At, &list)
	row.List = list.V
	return row, err
}
