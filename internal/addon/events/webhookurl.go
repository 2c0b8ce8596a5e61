package events

import (
	"context"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/addon/input"
	"github.com/countersign/countersign/internal/dial"
	"github.com/countersign/countersign/internal/fault"
)

// maxURL is the longest address of a webhook, in characters.
const maxURL = 2000

const problemOpen = "Over http, others on the network can read the events. Use https, or a private host that the operator allows"

// checkURL returns the address of a webhook, or what is wrong with it. Which address a
// name has then is checked by each delivery.
func (s *Service) checkURL(text string) (address, problem string) {
	text = strings.TrimSpace(text)
	if problem := input.Line(text, maxURL); problem != "" {
		return "", problem
	}
	u, err := url.Parse(text)
	switch {
	case text == "":
		return "", "Enter the address that receives the events, for example https://site.example/hooks/countersign"
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || !dial.CanCall(u) || u.Fragment != "":
		return "", "Invalid address: expected one like https://site.example/hooks/countersign"
	case u.User != nil:
		return "", "Leave out the user name and the password: the signature proves who sends an event"
	case u.Scheme == "http" && !s.mayBePrivate(u.Hostname()):
		return "", problemOpen
	}
	return u.String(), ""
}

// mayBePrivate reports whether a host may be in a private network that the operator allows.
// [Service.checkReach] checks addresses, also those of names.
func (s *Service) mayBePrivate(host string) bool {
	if addr, ok := dial.Literal(host); ok {
		return dial.Allowed(addr, dial.Private())
	}
	return len(s.allowed) > 0
}

// lookupTimeout bounds the look-up of a name for somebody who waits.
const lookupTimeout = 2 * time.Second

// Addresses returns those of the host of a webhook; none when its name has none now, or nobody answers in time.
func (s *Service) Addresses(ctx context.Context, address string) []netip.Addr {
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	if addr, ok := dial.Literal(u.Hostname()); ok {
		return []netip.Addr{addr}
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	list, err := s.lookup(ctx, "ip", u.Hostname())
	if err != nil {
		return nil
	}
	return list
}

// checkReach refuses an address that is never called (webhook_private, or webhook_invalid when nobody can
// allow it). A name that has no address may get one later.
func (s *Service) checkReach(ctx context.Context, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	open := u.Scheme == "http"
	list := s.Addresses(ctx, address)
	called := func(a netip.Addr) bool {
		return dial.Check(a, s.allowed) == nil && (!open || dial.Allowed(a, s.allowed))
	}
	private := func(a netip.Addr) bool { return dial.Allowed(a, dial.Private()) }
	public := func(a netip.Addr) bool { return dial.Check(a, nil) == nil }
	switch {
	case len(list) == 0 || slices.ContainsFunc(list, called):
		return nil
	case slices.ContainsFunc(list, private):
		return fault.Invalid("webhook_private", u.Hostname()+" is in a private network, to which this server sends nothing unless the operator allows it")
	case open && slices.ContainsFunc(list, public):
		return input.Invalid("webhook_invalid", map[string]string{"url": problemOpen})
	}
	return input.Invalid("webhook_invalid", map[string]string{"url": "Webhooks can't be sent to " + u.Hostname() + ": it is not a public address"})
}
