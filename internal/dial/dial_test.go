package dial

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/must"
)

func get(t *testing.T, g *Policy, url string) (int, error) {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))(t)
	answer, err := g.Client().Do(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode, err
}

// The refused call is followed by a connection of the test's own: it must be the
// first that the listener gets.
func TestNothingIsSentToARefusedAddress(t *testing.T) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "[::1]", "0.0.0.0"} {
		if _, err := get(t, New(nil), "http://"+host+":"+port); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", host, err)
		}
	}
	own := must.Get(net.Dial("tcp", l.Addr().String()))(t)
	defer own.Close()
	first := must.Get(l.Accept())(t)
	defer first.Close()
	if first.RemoteAddr().String() != own.LocalAddr().String() {
		t.Errorf("the first connection came from %s, not from the test", first.RemoteAddr())
	}
}

func TestAnAllowedAddressIsCalled(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	if status, err := get(t, New(prefixes("127.0.0.0/8")), s.URL); err != nil || status != http.StatusNotFound {
		t.Errorf("%d, %v", status, err)
	}
}

func TestAGuardOfPrivateNetworksCallsNoPublicAddress(t *testing.T) {
	g := NewPrivate([]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("0.0.0.0/0")})
	for address, called := range map[string]bool{
		"10.0.0.1:80": true, "[::ffff:10.0.0.1]:80": true, "192.168.0.1:80": true, "1.1.1.1:80": false, "169.254.169.254:80": false, "[fe80::1%eth0]:80": false,
	} {
		if err := g.control(t.Context(), "tcp4", address, nil); (err == nil) != called || err != nil && !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestNoRedirectIsFollowed(t *testing.T) {
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	}))
	defer s.Close()
	if status, err := get(t, New(prefixes("127.0.0.0/8")), s.URL); err != nil || status != http.StatusTemporaryRedirect || asked != 1 {
		t.Errorf("%d after %d requests, %v", status, asked, err)
	}
}

// A proxy would make the connection past the policy.
func TestNoProxyIsUsed(t *testing.T) {
	if g := New(nil); g.Client().Transport.(*http.Transport).Proxy != nil {
		t.Error("a proxy is asked for")
	}
}

func TestTheAddressThatIsDialledDecides(t *testing.T) {
	g := New([]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")})
	for address, called := range map[string]bool{
		"1.1.1.1:443": true, "10.0.0.1:443": true, "[2606:4700::1]:443": true, "192.168.0.1:443": false, "[::ffff:10.0.0.1]:443": true,
		"[::ffff:192.168.0.1]:443": false, "localhost:443": false, "10.0.0.1": false, "": false, "[fe80::1%eth0]:80": false,
	} {
		if err := g.control(t.Context(), "tcp4", address, nil); (err == nil) != called {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, network := range []string{"udp4", "unix", "ip4:icmp"} {
		if err := g.control(t.Context(), network, "1.1.1.1:443", nil); err == nil || !strings.Contains(err.Error(), network) {
			t.Errorf("%s: %v", network, err)
		}
	}
}
