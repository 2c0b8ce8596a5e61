//go:build unix

package requests

import (
	"flag"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/requestid"
	"github.com/countersign/countersign/internal/sqldb"
)

var benchCalls = flag.Int("calls", 100_000, "how many calls BenchmarkPage has to search")

// BenchmarkPage is one page of a log whose calls are as dense as ten million in 30 days, with
// `-calls 10000000` all of these: what people ask for, the first page and the last one.
func BenchmarkPage(b *testing.B) {
	for _, engine := range []string{dbtest.SQLite, dbtest.Postgres} {
		b.Run(engine, func(b *testing.B) { benchmarkPages(b, engine) })
	}
}

func benchmarkPages(b *testing.B, engine string) {
	db := dbtest.New(b, engine)
	end := time.Now()
	l := New(Options{See: operatorOnly, Dir: db.Dir, URL: db.URL, Keep: Keep{For: 31 * 24 * time.Hour, Calls: 1 << 40}, Now: func() time.Time { return end }, Log: slog.New(slog.DiscardHandler)})
	defer l.Close()
	first, rare := fillBench(b, l, end.Add(-30*24*time.Hour/10_000_000*time.Duration(*benchCalls)), end)
	analyze(b, l)
	for _, c := range []struct {
		name string
		f    Filter
	}{
		{"all", Filter{}},
		{"all, the last page", Filter{After: first - 1}},
		{"all, in the middle", Filter{Before: rare}},
		{"a workspace", Filter{Workspace: 7}},
		{"a workspace, the last page", Filter{Workspace: 7, After: first - 1}},
		{"failed", Filter{Workspace: 7, Result: Failed}},
		{"a key", Filter{Workspace: 7, Key: 26}},
		{"an item", Filter{Workspace: 7, Item: 1207}},
		{"an address", Filter{Address: "10.0.10.20"}},
		{"an address, the last page", Filter{Address: "10.0.10.20", After: first - 1}},
		{"a reason, an item and a key", Filter{Key: 26, Item: 1207, Reason: "key_unknown"}},
		{"what is rare", Filter{Item: 77_777}},
		{"what is not there", Filter{Item: 99_999}},
		{"a purchase", Filter{Workspace: 7, Purchase: 4711}},
	} {
		b.Run(c.name, func(b *testing.B) {
			found := 0
			for b.Loop() {
				page, err := l.Calls(b.Context(), operator, c.f)
				if err != nil {
					b.Fatal(err)
				}
				found = len(page.Calls)
			}
			b.ReportMetric(float64(found), "calls")
		})
	}
	b.Run("by request id", func(b *testing.B) {
		for b.Loop() {
			if _, err := l.Call(b.Context(), operator, 0, rare.String()); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, by := range []By{ByDay, ByItem, ByKey, ByResult} {
		b.Run("counts by "+string(by), func(b *testing.B) {
			for b.Loop() {
				if _, err := l.Counts(b.Context(), operator, CountQuery{Workspace: 7, From: end.Add(-365 * 24 * time.Hour), To: end, By: by}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// analyze does what autovacuum does within a minute, and the servers of tests do not.
func analyze(b *testing.B, l *Log) {
	b.Helper()
	if l.db.Engine() == sqldb.SQLite {
		return
	}
	_, err := l.db.Queries().Exec(b.Context(), "ANALYZE request_blocks")
	if err != nil {
		b.Fatal(err)
	}
}

// fillBench logs calls that are spread over a time, one of them about an item of its own. It
// returns the ids of the first and of that one.
func fillBench(b *testing.B, l *Log, from, to time.Time) (first, rare requestid.Number) {
	b.Helper()
	entries := benchEntries()
	apart := to.Sub(from) / time.Duration(*benchCalls)
	for i := range *benchCalls {
		e := entries[(i*40_503)%len(entries)]
		e.Number = requestid.First(from.Add(time.Duration(i)*apart)) | requestid.Number(i&(1<<20-1))
		switch i {
		case 0:
			first = e.Number
		case *benchCalls / 3:
			e.Item, rare = 77_777, e.Number
		}
		l.Put(&e)
		if i%(room/2) == room/2-1 {
			l.flush(b.Context())
		}
	}
	l.ending, l.lastPrune = true, time.Time{}
	l.flush(b.Context())
	l.ending = false
	if l.Dropped() > 0 || l.Failing() != nil {
		b.Fatal(fmt.Sprint(l.Dropped(), l.Failing()))
	}
	return first, rare
}
