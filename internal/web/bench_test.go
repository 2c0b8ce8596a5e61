package web

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/must"
)

// sink is a ResponseWriter that costs nothing, so that what is measured is ours.
type sink struct{ header http.Header }

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) Write(b []byte) (int, error) { return len(b), nil }
func (s *sink) WriteHeader(int)             {}

type replay struct{ strings.Reader }

func (*replay) Close() error { return nil }

func benchmarkPost(b *testing.B, h http.Handler, contentType, body string) {
	b.Helper()
	src := new(replay)
	r := must.Get(http.NewRequest(http.MethodPost, "http://store.example/api/purchases/validation", http.NoBody))(b)
	r.RemoteAddr = "192.0.2.1:4711"
	r.RequestURI = r.URL.Path
	r.Header.Set("Content-Type", contentType)
	r.Body, r.ContentLength = io.NopCloser(src), int64(len(body))
	w := &sink{header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		src.Reset(body)
		clear(w.header)
		h.ServeHTTP(w, r)
	}
}

const (
	benchForm = "api_key=csk_0123456789012345678901234567890123456789012ABCDEF&purchase_code=6b1c9f6e-3d4e-4d1c-9a53-2f8f9be1a001"
	benchJSON = `{"api_key":"csk_0123456789012345678901234567890123456789012ABCDEF","purchase_code":"6b1c9f6e-3d4e-4d1c-9a53-2f8f9be1a001","domain":"shop.example","item_id":null}`
)

func benchHandler(w http.ResponseWriter, r *http.Request) error {
	p, err := ReadParams(w, r, "api_key", "purchase_code")
	if err != nil {
		return err
	}
	code, _ := p.Get("purchase_code")
	return OK(w, r, "data", code)
}

func benchMux(h http.Handler) *http.ServeMux {
	mux := http.NewServeMux()
	mux.Handle("POST /api/purchases/validation", h)
	mux.Handle("GET /api/items/all", h)
	return mux
}

func BenchmarkPost(b *testing.B) {
	b.Run("bare", func(b *testing.B) {
		mux := benchMux(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(200) }))
		benchmarkPost(b, mux, "application/x-www-form-urlencoded", benchForm)
	})
	b.Run("bare, with FormValue", func(b *testing.B) {
		mux := benchMux(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Form, r.PostForm = nil, nil
			_, _ = io.WriteString(w, r.FormValue("purchase_code"))
		}))
		benchmarkPost(b, mux, "application/x-www-form-urlencoded", benchForm)
	})
	for name, o := range map[string]Options{
		"plain":               {},
		"log and metrics":     {Access: NewAccessLog(io.Discard, LogText), Metrics: NewMetrics("bench")},
		"log off and metrics": {Access: NewAccessLog(io.Discard, LogOff), Metrics: NewMetrics("bench")},
	} {
		e := NewEdge(o)
		h := e.Handler(benchMux(e.Wrap(benchHandler)))
		b.Run("form, "+name, func(b *testing.B) { benchmarkPost(b, h, "application/x-www-form-urlencoded", benchForm) })
		b.Run("JSON, "+name, func(b *testing.B) { benchmarkPost(b, h, "application/json", benchJSON) })
	}
	e := NewEdge(Options{})
	body := []byte(`{"status":"success"}`)
	text := string(body)
	h := e.Handler(benchMux(e.Wrap(func(w http.ResponseWriter, r *http.Request) error { Success(w, "data", text); return nil })))
	b.Run("edge and Success alone", func(b *testing.B) { benchmarkPost(b, h, "", "") })
}
