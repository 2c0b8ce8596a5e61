package web

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// clientAddr returns the address of the client: the socket's peer or, when the peer is a trusted proxy, the
// right-most hop of X-Forwarded-For that is none. A hop that can't be read ends the search at the last valid one.
func clientAddr(r *http.Request, trusted []netip.Prefix) netip.Addr {
	peer := peerAddr(r)
	if len(trusted) == 0 || !contains(trusted, peer) {
		return peer
	}
	last := peer
	values := r.Header["X-Forwarded-For"]
	for i := len(values) - 1; i >= 0; i-- {
		for list, more := values[i], true; more; {
			var hop string
			list, hop, more = cutLast(list)
			addr, ok := parseHop(hop)
			if !ok || !contains(trusted, addr) {
				if ok {
					last = addr
				}
				return last
			}
			last = addr
		}
	}
	return last
}

// cutLast splits a comma-separated list before its last element.
func cutLast(list string) (before, last string, more bool) {
	i := strings.LastIndexByte(list, ',')
	if i < 0 {
		return "", list, false
	}
	return list[:i], list[i+1:], true
}

// parseHop reads one hop of X-Forwarded-For: an address, which some proxies write with brackets or a port.
func parseHop(hop string) (netip.Addr, bool) {
	hop = strings.Trim(hop, " \t")
	if addr, err := netip.ParseAddr(hop); err == nil {
		return plain(addr), true
	}
	if ap, err := netip.ParseAddrPort(hop); err == nil {
		return plain(ap.Addr()), true
	}
	if len(hop) > 2 && hop[0] == '[' && hop[len(hop)-1] == ']' {
		if addr, err := netip.ParseAddr(hop[1 : len(hop)-1]); err == nil {
			return plain(addr), true
		}
	}
	return netip.Addr{}, false
}

// connKey is the context key of a request's connection.
type connKey struct{}

// withConn is the context of a connection's requests.
func withConn(ctx context.Context, c net.Conn) context.Context {
	if own := ownConn(c); own != nil {
		return context.WithValue(ctx, connKey{}, own)
	}
	return ctx
}

// ownConn is the connection of ours beneath c, nil for another sort.
func ownConn(c net.Conn) *conn {
	if secured, ok := c.(*tls.Conn); ok {
		c = secured.NetConn()
	}
	own, _ := c.(*conn)
	return own
}

// connOf is the connection of a request that [Serve] received, else nil.
func connOf(r *http.Request) *conn {
	c, _ := r.Context().Value(connKey{}).(*conn)
	return c
}

// peerAddr returns the address at the other end of the socket.
func peerAddr(r *http.Request) netip.Addr {
	ap, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return plain(ap.Addr())
}

// plain returns an address in the one form in which addresses are compared: no zone, IPv4 as IPv4.
func plain(addr netip.Addr) netip.Addr { return addr.Unmap().WithZone("") }

func contains(networks []netip.Prefix, addr netip.Addr) bool {
	return slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(addr) })
}

// unmapped writes IPv4 networks that were given in IPv6 form as IPv4, as addresses are.
func unmapped(networks []netip.Prefix) []netip.Prefix {
	plain := make([]netip.Prefix, 0, len(networks))
	for _, n := range networks {
		if n.Addr().Is4In6() && n.Bits() >= 96 {
			n = netip.PrefixFrom(n.Addr().Unmap(), n.Bits()-96)
		}
		plain = append(plain, n.Masked())
	}
	return plain
}
