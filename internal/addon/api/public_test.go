package api_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/countersign/countersign/internal/addon/api"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/webtest"
)

// get answers one GET, with headers as name, value, name, value.
func get(h http.Handler, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestTheCompressedFormIsTheSameAnswer(t *testing.T) {
	s := filled(t, dbtest.New(t, dbtest.SQLite)).run(t)
	h := api.New(s.Addon, options())
	plain := get(h, "/api-addons/app/settings")
	small := get(h, "/api-addons/app/settings", "Accept-Encoding", "gzip")
	if small.Header().Get("Content-Encoding") != "gzip" || small.Body.Len() >= plain.Body.Len() {
		t.Fatalf("%v, %d bytes", small.Header(), small.Body.Len())
	}
	z := must.Get(gzip.NewReader(small.Body))(t)
	body := must.Get(io.ReadAll(z))(t)
	if !bytes.Equal(body, plain.Body.Bytes()) {
		t.Errorf("it holds %s", body)
	}
}

func TestWhatFitsOnePacketIsNotCompressed(t *testing.T) {
	s := filled(t, dbtest.New(t, dbtest.SQLite))
	w := get(api.New(s.Addon, options()), "/api-addons/iap/config", "Accept-Encoding", "gzip")
	if w.Code != 200 || w.Header().Get("Content-Encoding") != "" || w.Header().Get("Vary") != "" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

// A publish by another process, as a command is one, reaches what a server serves.
func TestAPublishByAnotherProcessIsServed(t *testing.T) {
	t.Parallel()
	dbtest.AnEngine(t, func(t *testing.T, at dbtest.DB) {
		s := filled(t, at).run(t)
		h := api.New(s.Addon, options())
		before := get(h, "/api-addons/app/settings").Header().Get("ETag")
		other := again(t, at)
		must.Get(other.Settings.Set(t.Context(), operator, settings.Edit{}, map[string]string{"appName": "Elsewhere"}))(t)
		must.Get(other.Settings.Publish(t.Context(), operator, 0, ""))(t)
		for { // until it is; the test's own time limit ends it
			w := get(h, "/api-addons/app/settings", "If-None-Match", before)
			if w.Code == 200 && bytes.HasPrefix(w.Body.Bytes(), []byte(`{"appName":"Elsewhere"`)) {
				return
			}
			if w.Code != 200 && w.Code != 304 {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
		}
	})
}

// awaitMemory waits until the public answers are held in memory.
func (s *site) awaitMemory(t testing.TB) {
	for {
		one := must.Get(s.Settings.Published(t.Context()))(t)
		if two, _ := s.Settings.Published(t.Context()); one == two {
			return
		}
	}
}

func TestAServedAnswerCostsNoAllocationOfItsOwn(t *testing.T) {
	s := filled(t, dbtest.New(t, dbtest.SQLite)).run(t)
	h := api.New(s.Addon, options())
	r := httptest.NewRequest(http.MethodGet, "/api-addons/app/settings", nil)
	s.awaitMemory(t)
	w := &discard{header: http.Header{}}
	allocations := webtest.Allocations(func() {
		clear(w.header)
		h.ServeHTTP(w, r)
	})
	// The edge's own: what it knows of a request, and the request's id.
	if allocations > 2 {
		t.Errorf("%v allocations", allocations)
	}
}

// discard is a ResponseWriter that costs nothing.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(status int)      { d.status = status }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
