package web

import (
	"net/http"
	"net/netip"
	"testing"

	"github.com/countersign/countersign/internal/expect"
)

func prefixes(t *testing.T, networks ...string) []netip.Prefix {
	t.Helper()
	var out []netip.Prefix
	for _, n := range networks {
		out = append(out, netip.MustParsePrefix(n))
	}
	return out
}

func TestClientAddr(t *testing.T) {
	tests := []struct {
		name, peer string
		forwarded  []string
		want       string
	}{
		{"the socket", "203.0.113.7:4711", nil, "203.0.113.7"},
		{"the socket, IPv6", "[2001:db8::7]:4711", nil, "2001:db8::7"},
		{"IPv4 in IPv6 form", "[::ffff:203.0.113.7]:4711", nil, "203.0.113.7"},
		{"a zone is dropped", "[fe80::1%eth0]:4711", nil, "fe80::1"},
		{"no address", "@", nil, "invalid IP"},
		{"a stranger's header is not believed", "203.0.113.7:1", []string{"198.51.100.1"}, "203.0.113.7"},

		{"a proxy's header is", "10.0.0.1:1", []string{"198.51.100.1"}, "198.51.100.1"},
		{"a proxy in IPv6 form", "[::ffff:10.0.0.1]:1", []string{"198.51.100.1"}, "198.51.100.1"},
		{"a proxy of a network given in IPv6 form", "172.16.0.9:1", []string{"198.51.100.1"}, "198.51.100.1"},
		{"a proxy without the header", "10.0.0.1:1", nil, "10.0.0.1"},
		{"an empty header", "10.0.0.1:1", []string{""}, "10.0.0.1"},
		{"the right-most hop", "10.0.0.1:1", []string{"6.6.6.6, 198.51.100.1"}, "198.51.100.1"},
		{"the right-most that is no proxy", "10.0.0.1:1", []string{"6.6.6.6, 198.51.100.1, 10.0.0.2,2001:db8:1::3"}, "198.51.100.1"},
		{"several headers are one list", "10.0.0.1:1", []string{"6.6.6.6", "198.51.100.1", "10.0.0.2"}, "198.51.100.1"},
		{"all are proxies", "10.0.0.1:1", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		{"junk ends the search", "10.0.0.1:1", []string{"6.6.6.6, junk, 10.0.0.2"}, "10.0.0.2"},
		{"junk at the right", "10.0.0.1:1", []string{"6.6.6.6, junk"}, "10.0.0.1"},
		{"an empty hop ends the search", "10.0.0.1:1", []string{"6.6.6.6,,10.0.0.2"}, "10.0.0.2"},
		{"a hop with a port", "10.0.0.1:1", []string{"198.51.100.1:99"}, "198.51.100.1"},
		{"a hop in brackets", "10.0.0.1:1", []string{"[2001:db8::9]"}, "2001:db8::9"},
		{"a hop in brackets with a port", "10.0.0.1:1", []string{"[2001:db8::9]:99"}, "2001:db8::9"},
		{"a hop in IPv6 form", "10.0.0.1:1", []string{"::ffff:198.51.100.1"}, "198.51.100.1"},
		{"a hop with a zone", "10.0.0.1:1", []string{"fe80::9%x"}, "fe80::9"},
		{"an octal-looking hop is junk", "10.0.0.1:1", []string{"010.0.0.1"}, "10.0.0.1"},
	}
	trusted := unmapped(prefixes(t, "10.0.0.0/8", "2001:db8:1::/48", "::ffff:172.16.0.0/108"))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := &http.Request{RemoteAddr: tt.peer, Header: http.Header{"X-Forwarded-For": tt.forwarded}}
			expect.Equal(t, clientAddr(r, trusted).String(), tt.want)
		})
	}
}
