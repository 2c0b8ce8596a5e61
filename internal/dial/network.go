package dial

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// ErrRefused is wrapped by the error of every address that is not called.
var ErrRefused = errors.New("address refused")

// allowable are the networks that an operator may allow: an installation's own
// private ones, loopback, and the shared addresses that VPNs use.
var allowable = prefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "127.0.0.0/8", "::1/128", "100.64.0.0/10")

// Private returns the networks that an operator may allow, for calls whose address the
// operator has named.
func Private() []netip.Prefix { return slices.Clone(allowable) }

// reserved are networks of no public host, beside those that package netip knows.
// Several of them carry an IPv4 address inside an IPv6 address, and a router on the
// way could turn it into a private one.
var reserved = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fec0::/10",
)

// global holds every public IPv6 address; the rest of the space is not assigned.
var global = netip.MustParsePrefix("2000::/3")

func prefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}

// CheckNetwork reports whether a network may be allowed: it must lie within the
// private, loopback or shared address space.
func CheckNetwork(network netip.Prefix) error {
	for _, n := range allowable {
		if n.Bits() <= network.Bits() && n.Contains(network.Addr()) {
			return nil
		}
	}
	return fmt.Errorf("%s is not a private network: expected one within 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10, 127.0.0.0/8, fc00::/7 or ::1/128", network)
}

// Literal returns the address that a host names by itself: an IP address, or localhost.
func Literal(host string) (addr netip.Addr, ok bool) {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1}), true
	}
	addr, err := netip.ParseAddr(host)
	return addr, err == nil
}

// numeric is the last part of an IPv4 address in another form than the common one, like 127.1 or 0x7f000001. No name
// ends in it.
var numeric = regexp.MustCompile(`(?i)^([0-9]+|0x[0-9a-f]*)$`)

// CanCall reports whether the host and the port of an address are such that somebody can be called there.
func CanCall(u *url.URL) bool {
	if text := u.Port(); text != "" {
		if port, err := strconv.ParseUint(text, 10, 16); err != nil || port == 0 {
			return false
		}
	}
	host := strings.TrimSuffix(u.Hostname(), ".")
	_, literal := Literal(host)
	return literal || host != "" && !numeric.MatchString(host[strings.LastIndexByte(host, '.')+1:])
}

// Check returns an error that wraps [ErrRefused] unless addr is public or in a
// network that is allowed.
func Check(addr netip.Addr, allowed []netip.Prefix) error {
	if addr.Zone() != "" {
		return fmt.Errorf("%s has a zone: %w", addr, ErrRefused)
	}
	addr = addr.Unmap()
	if isAllowed(addr, allowed) {
		return nil
	}
	switch {
	case !addr.IsValid(), addr.IsUnspecified(), addr.IsLoopback(), addr.IsPrivate(), addr.IsMulticast(), addr.IsLinkLocalUnicast(),
		contains(reserved, addr), addr.Is6() && !global.Contains(addr):
		return fmt.Errorf("%s is not a public address: %w", addr, ErrRefused)
	}
	return nil
}

// Allowed reports whether addr is a private address in one of the allowed networks.
func Allowed(addr netip.Addr, allowed []netip.Prefix) bool {
	return addr.Zone() == "" && isAllowed(addr.Unmap(), allowed)
}

func isAllowed(addr netip.Addr, allowed []netip.Prefix) bool {
	return contains(allowable, addr) && contains(allowed, addr)
}

func contains(networks []netip.Prefix, addr netip.Addr) bool {
	for _, n := range networks {
		if n.Contains(addr) {
			return true
		}
	}
	return false
}
