package web

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/countersign/countersign/internal/expect"
)

func scrape(t *testing.T, m *Metrics) []byte {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.Bytes()
}

func TestRequestsAreCountedByRoute(t *testing.T) {
	m := NewMetrics("1.2.3")
	handler := testFrontEnd(Options{Metrics: m})
	for _, r := range []struct{ method, target string }{
		{"GET", "/api/items/all?api_key=hidden"}, {"GET", "/api/items/all/"}, {"POST", "/api/both"}, {"GET", "/files/one"},
		{"GET", "/files/two"}, {"GET", "/hidden-path"}, {"BREW", "/api/both"}, {"POST", "/api/items/all"},
	} {
		serveOne(t, handler, r.method, r.target)
	}
	got := scrape(t, m)
	for _, want := range []string{
		`countersign_http_requests_total{method="GET",route="/api/items/all",status="200"} 2`,
		`countersign_http_requests_total{method="POST",route="/api/both",status="200"} 1`,
		`countersign_http_requests_total{method="GET",route="/files/{name}",status="200"} 2`,
		`countersign_http_requests_total{method="GET",route="unmatched",status="404"} 1`,
		`countersign_http_requests_total{method="other",route="unmatched",status="405"} 1`,
		`countersign_http_requests_total{method="POST",route="unmatched",status="405"} 1`,
		`countersign_http_request_duration_seconds_count{route="/files/{name}"} 2`,
		`countersign_http_in_flight 0`,
		`countersign_build_info{go="go`,
		`version="1.2.3"} 1`,
		`go_goroutines `,
		`process_open_fds `,
	} {
		if !bytes.Contains(got, []byte(want)) {
			t.Errorf("no %s", want)
		}
	}
	if bytes.Contains(got, []byte("hidden")) || bytes.Contains(got, []byte("BREW")) {
		t.Error("what a client chose is a label")
	}
}

func TestRequestsInFlightAreCounted(t *testing.T) {
	m := NewMetrics("v")
	var during []byte
	h := NewEdge(Options{Metrics: m}).Wrap(func(http.ResponseWriter, *http.Request) error {
		during = scrape(t, m)
		return nil
	})
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	if !bytes.Contains(during, []byte("countersign_http_in_flight 1\n")) {
		t.Errorf("during: %.300s", during)
	}
}

func TestMetricsAreExactForManyAtOnce(t *testing.T) {
	m := NewMetrics("v")
	handler := testFrontEnd(Options{Metrics: m})
	t.Run("group", func(t *testing.T) {
		for range 8 {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				for range 100 {
					serveOne(t, handler, "GET", "/api/items/all")
				}
			})
		}
	})
	if want := `{method="GET",route="/api/items/all",status="200"} 800`; !bytes.Contains(scrape(t, m), []byte(want)) {
		t.Error("not 800")
	}
}

func TestABrokenOffRequestIsCounted(t *testing.T) {
	m := NewMetrics("v")
	h := NewEdge(Options{Metrics: m}).Wrap(func(http.ResponseWriter, *http.Request) error { panic(http.ErrAbortHandler) })
	func() {
		defer func() {
			expect.Equalf[any](t, recover(), http.ErrAbortHandler, "recovered")
		}()
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	}()
	got := scrape(t, m)
	for _, want := range []string{`status="0"} 1`, "countersign_http_in_flight 0\n"} {
		if !bytes.Contains(got, []byte(want)) {
			t.Errorf("no %s", want)
		}
	}
}
