package usage

import (
	"context"
	"fmt"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
)

var (
	noon  = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	here  = netip.MustParseAddr("192.0.2.7")
	there = netip.MustParseAddr("2001:db8::1")
)

// withRows runs fn on each engine with a table of n rows that were used twice.
func withRows(t *testing.T, n int, fn func(t *testing.T, db *sqldb.DB)) {
	t.Helper()
	t.Parallel()
	dbtest.Engines(t, func(t *testing.T, place dbtest.DB) {
		db := must.Get(sqldb.Open(t.Context(), sqldb.Options{URL: place.URL, Path: filepath.Join(place.Dir, "tools.db")}))(t)
		t.Cleanup(func() { _ = db.Close() })
		must.Do(t, db.Migrate(t.Context()))
		for _, query := range []string{
			`CREATE TABLE tools (id bigint PRIMARY KEY, used_count bigint NOT NULL DEFAULT 2, last_used_at text, last_used_from text NOT NULL DEFAULT '')`,
			fmt.Sprintf(`INSERT INTO tools (id) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT i FROM n`, n),
		} {
			must.Get(db.Queries().Exec(t.Context(), query))(t)
		}
		fn(t, db)
	})
}

// used is a row's columns.
func used(t *testing.T, db *sqldb.DB, id int64) string {
	t.Helper()
	text := must.Get(sqldb.One(t.Context(), db.Queries(), sqldb.Value[string],
		`SELECT used_count || ' ' || coalesce(last_used_at, '-') || ' ' || last_used_from FROM tools WHERE id = $1`, id))(t)
	return text
}

func TestUsesOfManyRowsAreAllWritten(t *testing.T) {
	const rows = 30_000
	withRows(t, rows, func(t *testing.T, db *sqldb.DB) {
		var c Counter
		for id := range int64(rows) {
			c.Note(id+1, noon, here)
			c.Note(id+1, noon.Add(time.Minute), there)
		}
		must.Do(t, c.Write(t.Context(), db, "tools"))
		written, err := sqldb.One(t.Context(), db.Queries(), sqldb.Value[int64],
			`SELECT count(*) FROM tools WHERE used_count = 4 AND last_used_at = '2026-11-01T12:01:00Z' AND last_used_from = '2001:db8::1'`)
		if err != nil || written != rows {
			t.Errorf("%d of %d rows written, %v", written, rows, err)
		}
	})
}

func TestOnlyWhatWasUsedIsWritten(t *testing.T) {
	withRows(t, 8, func(t *testing.T, db *sqldb.DB) {
		var c Counter
		c.Note(3, noon, here)
		c.Note(5, noon, netip.Addr{}) // of no known address
		c.Note(6, noon, there)
		c.Note(99, noon, here) // a row that was deleted
		for range 2 {          // the second time there is nothing to write
			must.Do(t, c.Write(t.Context(), db, "tools"))
		}
		for id, want := range map[int64]string{
			3: "3 2026-11-01T12:00:00Z 192.0.2.7", 5: "3 2026-11-01T12:00:00Z ", 6: "3 2026-11-01T12:00:00Z 2001:db8::1", 4: "2 - ", 8: "2 - ",
		} {
			expect.Equalf(t, used(t, db, id), want, "row %d", id)
		}
	})
}

func TestWhatIsNotWrittenWaits(t *testing.T) {
	withRows(t, 3, func(t *testing.T, db *sqldb.DB) {
		var c Counter
		later := noon.Add(time.Minute)
		c.Note(1, noon, here)
		c.Note(2, noon, here)
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := c.Write(gone, db, "tools"); err == nil {
			t.Fatal("no error")
		}
		c.Note(2, later, there)
		c.Note(3, later, there)
		must.Do(t, c.Write(t.Context(), db, "tools"))
		for id, want := range map[int64]string{
			1: "3 2026-11-01T12:00:00Z 192.0.2.7", 2: "4 2026-11-01T12:01:00Z 2001:db8::1", 3: "3 2026-11-01T12:01:00Z 2001:db8::1",
		} {
			expect.Equalf(t, used(t, db, id), want, "row %d", id)
		}
	})
}

// Two servers on one database write the uses of the same rows at once.
func TestBatchesOfTwoServersAddUp(t *testing.T) {
	withRows(t, 20, func(t *testing.T, db *sqldb.DB) {
		var servers [2]Counter
		for range 5 {
			done := make(chan error, len(servers))
			for i := range servers {
				for id := range int64(20) {
					servers[i].Note(id+1, noon, here)
				}
				go func() { done <- servers[i].Write(t.Context(), db, "tools") }()
			}
			for range servers {
				must.Do(t, <-done)
			}
		}
		for id := range int64(20) {
			expect.Equalf(t, used(t, db, id+1), "12 2026-11-01T12:00:00Z 192.0.2.7", "row %d", id+1)
		}
	})
}

func TestFiguresCountWhatIsNotWritten(t *testing.T) {
	withRows(t, 3, func(t *testing.T, db *sqldb.DB) {
		var c Counter
		c.Note(1, noon, here)
		c.Note(1, noon, here)
		c.Note(3, noon, here)
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := c.Write(gone, db, "tools"); err == nil {
			t.Fatal("no error")
		}
		if got := c.Figures(); got != (Figures{Waiting: 3}) {
			t.Errorf("%+v", got)
		}
		must.Do(t, c.Write(t.Context(), db, "tools"))
		if got := c.Figures(); got != (Figures{}) {
			t.Errorf("%+v", got)
		}
		c.loseTrack([]use{{id: 1, count: 2}, {id: 3, count: 1}})
		if got := c.Figures(); got != (Figures{Unconfirmed: 3}) {
			t.Errorf("%+v", got)
		}
	})
}
