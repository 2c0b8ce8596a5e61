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
	s, err := store.Open(b.Context(), store.Options{Dir: b.TempDir(), CacheBytes: cache})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	if err := s.Prepare(b.Context()); err != nil {
		b.Fatal(err)
	}
	if _, err := s.Import(b.Context(), people.Operator("bench"), sample.Big(100, purchases), store.ImportOptions{}); err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	defer func() { stop(); <-ended }()
	handler := api.New(s, api.Options{})
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
