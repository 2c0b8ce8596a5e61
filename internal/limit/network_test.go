package limit

import (
	"net/netip"
	"testing"

	"github.com/countersign/countersign/internal/expect"
)

func TestNetwork(t *testing.T) {
	for addr, want := range map[string]string{
		"203.0.113.7":             "203.0.113.7/32",
		"::ffff:203.0.113.7":      "203.0.113.7/32",
		"2001:db8:1:2:3:4:5:6":    "2001:db8:1:2::/64",
		"2001:db8:1:2:ffff::1%if": "2001:db8:1:2::/64",
	} {
		expect.Equalf(t, Network(netip.MustParseAddr(addr)).String(), want, "%s", addr)
	}
	if Network(netip.Addr{}) != (netip.Prefix{}) {
		t.Error("no address has a network")
	}
}
