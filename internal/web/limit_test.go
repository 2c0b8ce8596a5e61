package web

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/limit"
)

func TestARefusalSaysWhenToComeBack(t *testing.T) {
	c := newClock()
	l := limit.NewLimiter(2, c.Now)
	addr := netip.MustParseAddr("192.0.2.1")
	l.Fail(addr)
	l.Fail(addr)
	c.Move(17*time.Second + time.Millisecond)
	m := NewMetrics("v")
	e := NewEdge(Options{Metrics: m})
	w := httptest.NewRecorder()
	e.Wrap(func(w http.ResponseWriter, _ *http.Request) error { return RefuseLimited(w, l.Refusal(addr)) }).
		ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	want := map[string]string{
		"X-Error-Code": "rate_limited", "Retry-After": "43",
		"RateLimit-Limit": "2", "RateLimit-Remaining": "0", "RateLimit-Reset": "43",
	}
	for name, value := range want {
		expect.Equalf(t, w.Header().Get(name), value, "%s", name)
	}
	if w.Code != 429 || w.Body.String() != `{"status":"error","msg":"Too many requests"}` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if !bytes.Contains(scrape(t, m), []byte(`countersign_http_refusals_total{code="rate_limited"} 1`)) {
		t.Error("the refusal is not counted")
	}
}

func TestARefusalOfAWindowThatJustEnded(t *testing.T) {
	err := Refuse(httptest.NewRecorder(), countersign.CodeQuotaExceeded, 5, 0, 0)
	apiErr, ok := errors.AsType[*countersign.Error](err)
	if !ok || apiErr.Code != "quota_exceeded" || apiErr.RetryAfter != time.Second {
		t.Errorf("got %v", err)
	}
}
