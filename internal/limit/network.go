package limit

import "net/netip"

// Network returns the network that counts as one client: an IPv4 address, or the /64 of an IPv6 address, which is
// what one customer is given. The network of no address is the zero Prefix.
func Network(addr netip.Addr) netip.Prefix {
	addr = addr.Unmap().WithZone("")
	bits := clientBits
	if addr.Is4() {
		bits = 32
	}
	network, _ := addr.Prefix(bits) // fails for the zero Addr alone
	return network
}

// The networks of IPv6 that are counted, as lengths of their prefixes: what a customer is given, and the largest
// network that a provider usually gives one.
const (
	clientBits = 64
	siteBits   = 48
)

// siteOf returns the /48 around the network of a client, and whether it has one.
func siteOf(client netip.Prefix) (netip.Prefix, bool) {
	if !client.Addr().Is6() {
		return netip.Prefix{}, false
	}
	site, err := client.Addr().Prefix(siteBits)
	return site, err == nil
}
