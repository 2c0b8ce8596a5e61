//go:build unix

package api_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/api"
	"github.com/countersign/countersign/internal/store/requests"
	"github.com/countersign/countersign/internal/store/sample"
	"github.com/countersign/countersign/internal/store/transfer"
)

// BenchmarkValidation is one validation without the network, each of another
// code, with the store's background work under way: with all purchases in
// memory, and with none; with the log of API requests and without it. cpu-ns is the
// processor time of all, the background work included.
func BenchmarkValidation(b *testing.B) {
	for name, cache := range map[string]int64{"kept": 64 << 20, "read": 0} {
		b.Run(name, func(b *testing.B) { benchmarkValidation(b, store.Options{CacheBytes: cache}) })
		b.Run(name+" and logged", func(b *testing.B) {
			benchmarkValidation(b, store.Options{CacheBytes: cache, RequestLog: requests.DefaultKeep})
		})
	}
}

func benchmarkValidation(b *testing.B, o store.Options) {
	const purchases = 20_000
	s, handler := openBig(b, purchases, o)
	body := new(repeatable)
	r := httptest.NewRequest(http.MethodPost, "/api/purchases/validation", body)
	r.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "X-Api-Key": {sample.BigKey()}}
	w := &discard{header: http.Header{}}
	ask := func(i int) {
		body.Reader = *strings.NewReader("purchase_code=" + sample.BigCode(i%purchases))
		r.ContentLength = body.Size()
		handler.ServeHTTP(w, r)
		if w.status != http.StatusOK {
			b.Fatalf("status %d: %s", w.status, fmt.Sprint(w.header))
		}
	}
	for i := range purchases {
		ask(i)
	}
	b.ReportAllocs()
	dropped, before := s.Requests.Dropped(), processorTime(b)
	for i := 0; b.Loop(); i++ {
		ask(i)
	}
	b.ReportMetric(float64(processorTime(b)-before)/float64(b.N), "cpu-ns/op")
	b.ReportMetric(float64(s.Requests.Dropped()-dropped)/float64(b.N), "dropped/op")
}

// processorTime is what this process has used.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var r syscall.Rusage
	must.Do(b, syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// BenchmarkIssueLicense is one new license without the network, each for another
// purchase and durable when it is answered: what a write costs.
func BenchmarkIssueLicense(b *testing.B) {
	const purchases = 50_000
	_, handler := openBig(b, purchases, store.Options{CacheBytes: 64 << 20})
	r := httptest.NewRequest(http.MethodPost, "/api/licenses", nil)
	r.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	w := &discard{header: http.Header{}}
	issue := func(i int) {
		code := sample.BigCode(i * 7919 % purchases)
		body := strings.NewReader("purchase_code=" + code + "&domain=d" + code[:8] + ".example")
		r.Body, r.ContentLength = io.NopCloser(body), body.Size()
		handler.ServeHTTP(w, r)
		if w.status != http.StatusOK {
			b.Fatalf("status %d: %s", w.status, fmt.Sprint(w.header))
		}
	}
	issue(0)
	b.ReportAllocs()
	for i := 1; b.Loop(); i++ {
		if i == purchases {
			b.Fatal("more licenses than there are purchases")
		}
		issue(i)
	}
}

// openBig opens a store of made-up purchases with its background work under way.
func openBig(b *testing.B, purchases int, o store.Options) (*store.Store, http.Handler) {
	b.Helper()
	o.Dir = b.TempDir()
	s := must.Get(store.Open(b.Context(), o))(b)
	b.Cleanup(func() { s.Close() })
	must.Do(b, s.Prepare(b.Context()))
	must.Get(s.Transfer.Import(b.Context(), people.Operator("bench"), sample.Big(100, purchases), transfer.ImportOptions{}))(b)
	ctx, stop := context.WithCancel(context.WithoutCancel(b.Context()))
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	b.Cleanup(func() { stop(); <-ended })
	return s, api.New(s, api.Options{})
}
