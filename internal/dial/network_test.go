package dial

import (
	"errors"
	"net/netip"
	"net/url"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

func TestOnlyPublicAddressesAreCalled(t *testing.T) {
	for _, c := range []struct {
		rule    string
		addrs   []string
		refused bool
	}{
		{"public IPv4 addresses are called", []string{"1.1.1.1", "9.255.255.255", "11.0.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255", "100.63.255.255", "100.128.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255"}, false},
		{"public IPv6 addresses are called", []string{"2606:4700:4700::1111", "2001:4860:4860::8888", "2001:200::1", "2003::1", "3ffe:ffff::1"}, false},
		{"IPv4 inside IPv6 is judged as IPv4", []string{"::ffff:1.1.1.1"}, false},
		{"private", []string{"10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0", "192.168.255.255", "fc00::1", "fdff:ffff::1"}, true},
		{"loopback", []string{"127.0.0.1", "127.255.255.255", "::1"}, true},
		{"link-local, the metadata of clouds among them", []string{"169.254.0.1", "169.254.169.254", "fe80::1", "febf::1"}, true},
		{"multicast and broadcast", []string{"224.0.0.1", "239.255.255.255", "ff02::1", "ff0e::1", "255.255.255.255"}, true},
		{"unspecified", []string{"0.0.0.0", "::"}, true},
		{"with a zone", []string{"fe80::1%eth0", "2606:4700::1%eth0", "::ffff:1.1.1.1%eth0"}, true},
		{"this network", []string{"0.0.0.1", "0.255.255.255"}, true},
		{"shared by a provider's customers", []string{"100.64.0.0", "100.127.255.255"}, true},
		{"protocol assignments", []string{"192.0.0.0", "192.0.0.255"}, true},
		{"documentation", []string{"192.0.2.0", "192.0.2.255", "198.51.100.0", "198.51.100.255", "203.0.113.0", "203.0.113.255", "2001:db8::1", "3fff::1", "3fff:fff::1"}, true},
		{"benchmarks", []string{"198.18.0.0", "198.19.255.255"}, true},
		{"for the future", []string{"240.0.0.0", "255.255.255.254"}, true},
		{"NAT64", []string{"64:ff9b::7f00:1", "64:ff9b::0a00:1", "64:ff9b::101:101", "64:ff9b:1::1", "64:ff9b:1:ffff::1"}, true},
		{"discard", []string{"100::1"}, true},
		{"Teredo, ORCHID and other assignments", []string{"2001::1", "2001:0:7f00:1::", "2001:1ff::1"}, true},
		{"6to4", []string{"2002:7f00:1::", "2002:a00:1::1", "2002:101:101::1"}, true},
		{"segment routing", []string{"5f00::1"}, true},
		{"site-local", []string{"fec0::1", "feff::1"}, true},
		{"IPv4-compatible", []string{"::127.0.0.1", "::10.0.0.1", "::1.1.1.1"}, true},
		{"not assigned", []string{"1::1", "4000::1", "8000::1"}, true},
		{"IPv4-mapped forms of the above", []string{"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:0.0.0.0", "::ffff:100.64.0.1", "::ffff:224.0.0.1", "::ffff:255.255.255.255"}, true},
	} {
		for _, text := range c.addrs {
			err := Check(netip.MustParseAddr(text), nil)
			if (err != nil) != c.refused || (err != nil && !errors.Is(err, ErrRefused)) {
				t.Errorf("%s: %s: %v", c.rule, text, err)
			}
		}
	}
	if Check(netip.Addr{}, nil) == nil {
		t.Error("no address at all is called")
	}
}

func TestAllowedNetworksAreCalled(t *testing.T) {
	for _, c := range []struct {
		rule, network, addr string
		called              bool
	}{
		{"an address in a network that was named", "10.1.0.0/16", "10.1.255.255", true},
		{"one beside it", "10.1.0.0/16", "10.2.0.0", false},
		{"its mapped form", "10.1.0.0/16", "::ffff:10.1.0.1", true},
		{"loopback", "127.0.0.0/8", "127.0.0.1", true},
		{"the other loopback", "127.0.0.0/8", "::1", false},
		{"IPv6 loopback", "::1/128", "::1", true},
		{"a unique local network", "fd12::/16", "fd12::1", true},
		{"shared addresses, as VPNs use them", "100.64.0.0/10", "100.100.1.1", true},
		{"a zone is refused all the same", "fd12::/16", "fd12::1%eth0", false},
		{"everything opens no link-local address", "0.0.0.0/0", "169.254.169.254", false},
		{"nor an unspecified one", "0.0.0.0/0", "0.0.0.0", false},
		{"nor NAT64", "::/0", "64:ff9b::7f00:1", false},
		{"link-local can't be allowed", "169.254.0.0/16", "169.254.169.254", false},
	} {
		err := Check(netip.MustParseAddr(c.addr), prefixes(c.network))
		if (err == nil) != c.called {
			t.Errorf("%s: %s with %s: %v", c.rule, c.addr, c.network, err)
		}
	}
}

func TestOnlyPrivateNetworksCanBeAllowed(t *testing.T) {
	for text, ok := range map[string]bool{
		"10.0.0.0/8": true, "10.1.2.3/32": true, "172.16.0.0/12": true, "192.168.1.0/24": true, "127.0.0.0/8": true, "::1/128": true,
		"fd00::/8": true, "100.64.0.0/10": true,
		"0.0.0.0/0": false, "::/0": false, "10.0.0.0/7": false, "169.254.0.0/16": false, "fe80::/10": false, "8.8.8.0/24": false,
		"172.16.0.0/11": false, "64:ff9b::/96": false, "::ffff:10.0.0.0/104": false, "224.0.0.0/4": false,
	} {
		if err := CheckNetwork(netip.MustParsePrefix(text)); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
	if CheckNetwork(netip.Prefix{}) == nil {
		t.Error("no network at all can be allowed")
	}
}

// Whatever the bytes of an address are: a private one is refused in every form.
func FuzzCheck(f *testing.F) {
	for _, text := range []string{"127.0.0.1", "::1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "1.1.1.1", "2606:4700::1"} {
		f.Add(netip.MustParseAddr(text).AsSlice())
	}
	f.Fuzz(func(t *testing.T, bytes []byte) {
		addr, ok := netip.AddrFromSlice(bytes)
		if !ok {
			return
		}
		err := Check(addr, nil)
		plain := addr.Unmap()
		if err == nil && (!plain.IsGlobalUnicast() || plain.IsPrivate()) {
			t.Errorf("%s is called", addr)
		}
		if mapped := netip.AddrFrom16(addr.As16()); (Check(mapped, nil) == nil) != (err == nil) {
			t.Errorf("%s and %s are told apart", addr, mapped)
		}
		if plain.Is4() {
			four := plain.As4()
			nat64 := netip.MustParseAddr("64:ff9b::").As16()
			copy(nat64[12:], four[:])
			if Check(netip.AddrFrom16(nat64), nil) == nil {
				t.Errorf("%s is called by way of NAT64", plain)
			}
		}
	})
}

func TestAnAddressCanBeCalledByItsForm(t *testing.T) {
	for address, want := range map[string]bool{
		"https://site.example": true, "https://site.example.:8443": true, "http://site": true, "https://1.2.example": true, "https://10.0.0.1:1": true,
		"https://[::1]:65535": true, "https://localhost": true, "https://0xg": true,
		"https://site.example:0": false, "https://site.example:65536": false, "https://127.1": false, "https://2130706433": false,
		"https://0X7F000001.": false, "https://a.0x": false, "https://1.2.3.4.5": false, "https://": false, "https://:443": false,
	} {
		u := must.Get(url.Parse(address))(t)
		expect.Equalf(t, CanCall(u), want, "%s", address)
	}
}
