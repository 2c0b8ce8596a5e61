//go:build unix

package requests

import (
	"log/slog"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/store/requestdb"
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

// fillYear writes the hours of 365 days up to one, and adds up the days.
func fillYear(b *testing.B, l *Log, end int64) {
	b.Helper()
	for day := end - 365; day < end; day++ {
		var counts []requestdb.Count
		for i := range int64(24 * 200) {
			reason := ""
			if i%10 == 0 {
				reason = "purchase_not_found"
			}
			counts = append(counts, requestdb.Count{WorkspaceID: 1, Hour: day*24 + i/200, ItemID: 1 + i%200, KeyID: 1 + (i+day)%4, Result: reason, Calls: 57})
		}
		err := l.db.Tx(b.Context(), func(tx *requestdb.DB) error {
			if err := tx.AddCounts(b.Context(), counts); err != nil {
				return err
			}
			return tx.AddDays(b.Context(), daysOf(counts))
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	now := l.options.Now().Add(2 * packAfter)
	for l.packed != overBefore(now) {
		if err := l.pack(b.Context(), now); err != nil {
			b.Fatal(err)
		}
	}
}
