//go:build unix

package requests

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/requestid"
)

// BenchmarkCall is what logging a call costs this process, writing included, while calls come
// in as fast as they can be written: 50 workspaces, 200 keys, 10,000 items, 20,000 addresses.
func BenchmarkCall(b *testing.B) {
	for _, engine := range []string{dbtest.SQLite, dbtest.Postgres} {
		b.Run(engine, func(b *testing.B) {
			db := dbtest.New(b, engine)
			l := New(Options{See: operatorOnly, Dir: db.Dir, URL: db.URL, Keep: DefaultKeep, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
			entries := benchEntries()
			l.flush(b.Context())
			at := time.Now()
			before := processorTime(b)
			for i := 0; b.Loop(); i++ {
				e := &entries[i%len(entries)]
				e.Number = requestid.First(at.Add(time.Duration(i)*20*time.Microsecond)) | requestid.Number(i&(1<<20-1))
				l.Put(e)
				if i%(room/2) == room/2-1 {
					l.flush(b.Context())
				}
			}
			l.ending = true // all counts are written
			l.flush(b.Context())
			b.ReportMetric(float64(processorTime(b)-before)/float64(b.N), "cpu-ns/op")
			if l.Dropped() > 0 || l.Written() != int64(b.N) || l.Failing() != nil {
				b.Fatalf("%d of %d written, %d dropped, %v", l.Written(), b.N, l.Dropped(), l.Failing())
			}
			if err := l.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func benchEntries() []Entry {
	reasons := []string{"", "", "", "", "purchase_not_found", "key_unknown"}
	entries := make([]Entry, 65536)
	for i := range entries {
		address, workspace := rand.Uint32N(20_000), rand.Int64N(50)
		e := &entries[i]
		*e = Entry{
			Workspace: 1 + workspace, Key: 1 + workspace*4 + rand.Int64N(4), Item: 1 + workspace*200 + rand.Int64N(200), Purchase: 1 + rand.Int64N(1_000_000),
			Endpoint: "/api/purchases/validation", Method: "POST", Status: 200, Reason: reasons[rand.IntN(len(reasons))], Took: 130 * time.Microsecond,
			Addr: netip.AddrFrom4([4]byte{10, byte(address >> 16), byte(address >> 8), byte(address)}), Agent: "GuzzleHttp/7 (PHP 8.2)",
		}
		e.Sent.Add(InHeader, paramKey, "")
		e.Sent.Add(InBody, "purchase_code", fmt.Sprintf("%08x-5d2a-4c44-9b1e-000000000001", rand.Uint32()))
	}
	return entries
}

func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
