package limit

import (
	"net/netip"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
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
	expect.Equalf(t, l.Refusal(addr).Wait, 45*time.Second, "retry in")
	c.move(45 * time.Second)
	if !l.Allowed(addr) || l.Refusal(addr).Wait != 0 {
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
	if !l.Allowed(addr) || l.clients.keys.Load() != 0 {
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
