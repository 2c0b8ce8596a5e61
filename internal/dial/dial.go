// Package dial calls addresses that somebody typed, without letting them reach the
// private network of this server.
package dial

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

// Limits of one connection.
const (
	connectTimeout = 10 * time.Second
	idleTimeout    = 30 * time.Second
	maxHeaderBytes = 64 << 10
)

// Policy makes HTTP calls to public addresses, and to the private ones that its
// operator allows. Goroutines may share it.
type Policy struct {
	allowed     []netip.Prefix
	privateOnly bool
	client      *http.Client
}

// New returns a policy that also allows addresses in the allowed networks. A network
// that [CheckNetwork] refuses has no effect.
func New(allowed []netip.Prefix) *Policy {
	return newPolicy(&Policy{allowed: slices.Clone(allowed)})
}

// NewPrivate returns a policy that allows addresses in the allowed networks alone: for what
// must not travel the internet in the open.
func NewPrivate(allowed []netip.Prefix) *Policy {
	return newPolicy(&Policy{allowed: slices.Clone(allowed), privateOnly: true})
}

func newPolicy(p *Policy) *Policy {
	dialer := &net.Dialer{Timeout: connectTimeout, ControlContext: p.control}
	p.client = &http.Client{
		Transport: &http.Transport{
			// Without Proxy: a proxy would connect in this server's place, past the policy.
			DialContext:         dialer.DialContext,
			TLSHandshakeTimeout: connectTimeout, IdleConnTimeout: idleTimeout, MaxIdleConns: 10,
			MaxResponseHeaderBytes: maxHeaderBytes, ForceAttemptHTTP2: true,
		},
		// Where a redirect leads was chosen by the server that was called.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return p
}

// Client makes the calls. It follows no redirect and uses no proxy, and has no
// timeout for a whole call: the request's context sets it. The error of a refused
// address wraps [ErrRefused].
func (p *Policy) Client() *http.Client { return p.client }

// control runs before each attempt to connect, after names were resolved: address is
// the one that is dialled, so a name that resolves again can't pass.
func (p *Policy) control(_ context.Context, network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return fmt.Errorf("network %s: %w", network, ErrRefused)
	}
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("address %q: %w", address, ErrRefused)
	}
	if p.privateOnly && !isAllowed(at.Addr().Unmap(), p.allowed) {
		return fmt.Errorf("%s is not in a private network that is allowed: %w", at.Addr(), ErrRefused)
	}
	return Check(at.Addr(), p.allowed)
}
