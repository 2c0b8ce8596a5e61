package events

import (
	"net/url"
	"strings"

	"github.com/countersign/countersign/internal/addon/input"
	"github.com/countersign/countersign/internal/dial"
	"github.com/countersign/countersign/internal/fault"
)

// maxURL is the longest address of a webhook, in characters.
const maxURL = 2000

// checkURL returns the address of a webhook, or what is wrong with it. Which address a
// name has is checked by each delivery.
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
		return "", "Over http, others on the network can read the events. Use https, or a private host that the operator allows"
	}
	return u.String(), ""
}

// mayBePrivate reports whether a host may be in a private network that the operator allows.
// [Service.checkReach] checks addresses; names are looked up only when something is sent.
func (s *Service) mayBePrivate(host string) bool {
	if addr, ok := dial.Literal(host); ok {
		return dial.Allowed(addr, dial.Private())
	}
	return len(s.allowed) > 0
}

// checkReach refuses an address that is never called (webhook_private, or webhook_invalid when nobody can
// allow it).
func (s *Service) checkReach(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	addr, ok := dial.Literal(u.Hostname())
	switch {
	case !ok || dial.Check(addr, s.allowed) == nil:
		return nil
	case dial.Allowed(addr, dial.Private()):
		return fault.Invalid("webhook_private", u.Hostname()+" is in a private network, to which this server sends nothing unless the operator allows it")
	}
	return input.Invalid("webhook_invalid", map[string]string{"url": "Webhooks can't be sent to " + u.Hostname() + ": it is not a public address"})
}
