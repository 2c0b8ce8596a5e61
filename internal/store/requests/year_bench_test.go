//go:build unix

package requests

import (
	"log/slog"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/sqldb"
)

// BenchmarkYear reads the counts of a year with 100 million calls of one workspace, which are
// loaded by the hour: 200 items with 4 keys, of which each hour has 200 pairs.
func BenchmarkYear(b *testing.B) {
	for _, engine := range []string{dbtest.SQLite, dbtest.Postgres} {
		b.Run(engine, func(b *testing.B) {
			db := dbtest.New(b, engine)
			end := time.Now().Truncate(24 * time.Hour)
			l := New(Options{See: operatorOnly, Dir: db.Dir, URL: db.URL, Keep: DefaultKeep, Now: func() time.Time { return end }, Log: slog.New(slog.DiscardHandler)})
			defer l.Close()
			l.flush(b.Context())
			fillYear(b, l, hourOf(end)/24)
			for _, by := range []By{ByDay, ByItem, ByKey, ByResult} {
				b.Run(string(by), func(b *testing.B) {
					for b.Loop() {
						counts, err := l.Counts(b.Context(), operator, CountQuery{Workspace: 1, From: end.AddDate(-1, 0, 0), To: end, By: by})
						if err != nil || len(counts) < 2 {
							b.Fatal(len(counts), err)
						}
					}
				})
			}
		})
	}
}

// fillYear writes the counts of 365 days up to one.
func fillYear(b *testing.B, l *Log, end int64) {
	b.Helper()
	for day := end - 365; day < end; day++ {
		c := newCounts(time.Time{})
		for i := range int64(24 * 200) {
			reason := ""
			if i%10 == 0 {
				reason = "purchase_not_found"
			}
			s := c.of(sumsOf{1, day, reason})
			s[sumHours][i/200] += 57
			s[sumKeys][1+(i+day)%4] += 57
			s[sumItems][1+i%200] += 57
		}
		if err := l.db.Tx(b.Context(), func(q sqldb.Queries) error { return c.write(b.Context(), q) }); err != nil {
			b.Fatal(err)
		}
	}
}
