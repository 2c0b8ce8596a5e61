package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/prepared"
)

func TestOKWritesTheEnvelope(t *testing.T) {
	tests := []struct {
		name, key string
		v         any
		want      string
	}{
		{"an object", "data", map[string]int{"a": 1}, `{"status":"success","data":{"a":1}}`},
		{"an empty list", "items", []int{}, `{"status":"success","items":[]}`},
		{"null", "item", nil, `{"status":"success","item":null}`},
		{"URLs stay readable", "data", "https://x.example/?a=1&b=<2>", `{"status":"success","data":"https://x.example/?a=1&b=<2>"}`},
		{"money keeps its decimals", "data", countersign.Money(4900), `{"status":"success","data":49.00}`},
		{"more than a buffer", "data", strings.Repeat("x", 100_000), `{"status":"success","data":"` + strings.Repeat("x", 100_000) + `"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := httptest.NewRecorder()
			must.Do(t, OK(w, httptest.NewRequest("GET", "/", nil), tt.key, tt.v))
			res := w.Result()
			if got := bodyOf(t, res); got != tt.want || res.ContentLength != int64(len(tt.want)) {
				t.Errorf("got %.200s (length %d)", got, res.ContentLength)
			}
			expect.Equalf(t, res.Header.Get("Content-Type"), "application/json; charset=utf-8", "Content-Type")
		})
	}
}

func TestOKWritesNothingWhenTheValueCanNotBeEncoded(t *testing.T) {
	res := serveOne(t, NewEdge(Options{}).Wrap(func(w http.ResponseWriter, r *http.Request) error {
		return OK(w, r, "data", func() {})
	}), "GET", "/")
	if got := bodyOf(t, res); res.StatusCode != 500 || got != `{"status":"error","msg":"Internal error"}` {
		t.Errorf("%d %s", res.StatusCode, got)
	}
}

func TestOKIsSafeForManyAtOnce(t *testing.T) {
	handler := testFrontEnd(Options{})
	for range 8 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			for range 200 {
				expect.Equal(t, bodyOf(t, serveOne(t, handler, "GET", "/files/abc")), `{"status":"success","data":"abc"}`)
			}
		})
	}
}

func TestSuccessPutsReadyBytesIntoAnEnvelope(t *testing.T) {
	w := httptest.NewRecorder()
	Success(w, "data", `{"a":`, `1}`)
	const want = `{"status":"success","data":{"a":1}}`
	if w.Body.String() != want || w.Header().Get("Content-Length") != "35" || w.Code != 200 {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	expect.Equalf(t, string(prepared.Success("data", `{"a":`, `1}`)), want, "the body")
}
