package events

import (
	"net/netip"
	"net/url"
	"strings"

	"github.com/countersign/countersign/internal/addon/input"
	"github.com/countersign/countersign/internal/dial"
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
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Fragment != "":
		return "", "Invalid address: expected one like https://site.example/hooks/countersign"
	case u.User != nil:
		return "", "Leave out the user name and the password: the signature proves who sends an event"
	case u.Scheme == "http" && !s.mayBePrivate(u.Hostname()):
		return "", "Over http, others on the network can read the events. Use https, or a private host that the operator allows"
	}
	return u.String(), ""
}

// mayBePrivate reports whether a host may be one of the private networks that the operator
// allows. Names are looked up only when something is sent.
func (s *Service) mayBePrivate(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return dial.Allowed(addr, s.allowed)
	}
	return len(s.allowed) > 0
}
