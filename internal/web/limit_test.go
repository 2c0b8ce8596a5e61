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
)

func TestALimiterRefusesAfterTheLimit(t *testing.T) {
	c := newClock()
	l := NewLimiter(3, c.now)
	addr, other := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	for i := range 3 {
		for range 5 { // asking costs nothing
			if !l.Allowed(addr) {
				t.Fatalf("failure %d was not allowed", i)
			}
		}
		l.Fail(addr)
	}
	if l.Allowed(addr) || !l.Allowed(other) {
		t.Error("the limit holds for the wrong client")
	}
	c.move(15 * time.Second)
	if got := l.Retry(addr); got != 45*time.Second {
		t.Errorf("retry in %s", got)
	}
	c.move(45 * time.Second)
	if !l.Allowed(addr) || l.Retry(addr) != 0 {
		t.Error("the minute is over")
	}
}

func TestAnIPv6NetworkIsOneClient(t *testing.T) {
	l := NewLimiter(1, newClock().now)
	l.Fail(netip.MustParseAddr("2001:db8::1"))
	if l.Allowed(netip.MustParseAddr("2001:db8::ffff")) {
		t.Error("another address of the /64 is allowed")
	}
	if !l.Allowed(netip.MustParseAddr("2001:db8:0:1::1")) {
		t.Error("the next /64 is not allowed")
	}
}

func TestALimiterOf0IsOff(t *testing.T) {
	l := NewLimiter(0, nil)
	addr := netip.MustParseAddr("192.0.2.1")
	for range 1000 {
		l.Fail(addr)
	}
	if !l.Allowed(addr) || l.failures.keys.Load() != 0 {
		t.Error("it counts")
	}
}

func TestClientsWithoutAnAddressAreOneClient(t *testing.T) {
	l := NewLimiter(1, newClock().now)
	l.Fail(netip.Addr{})
	if l.Allowed(netip.Addr{}) {
		t.Error("allowed")
	}
}

func TestARefusalSaysWhenToComeBack(t *testing.T) {
	c := newClock()
	l := NewLimiter(2, c.now)
	addr := netip.MustParseAddr("192.0.2.1")
	l.Fail(addr)
	l.Fail(addr)
	c.move(17*time.Second + time.Millisecond)
	m := NewMetrics("v")
	e := NewEdge(Options{Metrics: m})
	w := httptest.NewRecorder()
	e.Wrap(func(w http.ResponseWriter, _ *http.Request) error { return l.Refuse(w, addr) }).
		ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	want := map[string]string{
		"X-Error-Code": "rate_limited", "Retry-After": "43",
		"RateLimit-Limit": "2", "RateLimit-Remaining": "0", "RateLimit-Reset": "43",
	}
	for name, value := range want {
		if got := w.Header().Get(name); got != value {
			t.Errorf("%s: %q, want %q", name, got, value)
		}
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
	ours, ok := errors.AsType[*countersign.Error](err)
	if !ok || ours.Code != "quota_exceeded" || ours.RetryAfter != time.Second {
		t.Errorf("got %v", err)
	}
}
