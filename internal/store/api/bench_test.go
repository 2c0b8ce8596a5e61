package api_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/api"
	"github.com/countersign/countersign/internal/store/sample"
	"github.com/countersign/countersign/internal/store/transfer"
)

// BenchmarkValidation is one validation without the network, each of another
// code, with the store's background work under way: with all purchases in
// memory, and with none.
func BenchmarkValidation(b *testing.B) {
	for name, cache := range map[string]int64{"kept": 64 << 20, "read": 0} {
		b.Run(name, func(b *testing.B) { benchmarkValidation(b, cache) })
	}
}

func benchmarkValidation(b *testing.B, cache int64) {
	const purchases = 20_000
	handler := openBig(b, purchases, cache)
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
	for i := 0; b.Loop(); i++ {
		ask(i)
	}
}

// BenchmarkIssueLicense is one new license without the network, each for another
// purchase and durable when it is answered: what a write costs.
func BenchmarkIssueLicense(b *testing.B) {
	const purchases = 50_000
	handler := openBig(b, purchases, 64<<20)
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
func openBig(b *testing.B, purchases int, cache int64) http.Handler {
	b.Helper()
	s, err := store.Open(b.Context(), store.Options{Dir: b.TempDir(), CacheBytes: cache})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	if err := s.Prepare(b.Context()); err != nil {
		b.Fatal(err)
	}
	if _, err := s.Transfer.Import(b.Context(), people.Operator("bench"), sample.Big(100, purchases), transfer.ImportOptions{}); err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(b.Context()))
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	b.Cleanup(func() { stop(); <-ended })
	return api.New(s, api.Options{})
}

// repeatable is a body that can be filled again.
type repeatable struct{ strings.Reader }

func (*repeatable) Close() error { return nil }

// discard is a ResponseWriter that costs nothing.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(status int)      { d.status = status }
func (d *discard) Write(b []byte) (int, error) { return io.Discard.Write(b) }
