package limit

import (
	"net/netip"
	"time"
)

// siteFactor is how many times the limit of a client a /48 of IPv6 has, which holds 65,536 of them.
const siteFactor = 10

// Limiter counts the failures of each client ([Network]) and says who had too many of them within a minute. IPv6
// clients are counted a second time with their /48, whose limit is ten times as high. It is safe for concurrent use.
type Limiter struct {
	limit          int
	clients, sites *Window[netip.Prefix]
}

// NewLimiter allows each client limit failures a minute; 0 switches the limiter off. now is its clock, and nil means
// time.Now.
func NewLimiter(limit int, now func() time.Time) *Limiter {
	return &Limiter{limit: limit, clients: NewWindow[netip.Prefix](time.Minute, now), sites: NewWindow[netip.Prefix](time.Minute, now)}
}

// Allowed reports whether the client may fail once more. It counts nothing, and takes a few nanoseconds while nobody
// has failed.
func (l *Limiter) Allowed(addr netip.Addr) bool {
	if l.limit <= 0 || l.clients.keys.Load() == 0 && l.sites.keys.Load() == 0 {
		return true
	}
	client := Network(addr)
	if !l.clients.Allows(client, l.limit) {
		return false
	}
	site, ok := siteOf(client)
	return !ok || l.sites.Allows(site, siteFactor*l.limit)
}

// Fail counts one failure of the client if it may fail once more, and reports whether it might. Of many at once no
// more are counted than the limit allows.
func (l *Limiter) Fail(addr netip.Addr) bool {
	if l.limit <= 0 {
		return true
	}
	client := Network(addr)
	if !l.clients.Take(client, l.limit) {
		return false
	}
	site, ok := siteOf(client)
	return !ok || l.sites.Take(site, siteFactor*l.limit)
}

// Refusal explains why somebody is refused: Limit is used up, Remaining of it is left, and after Wait there is more.
type Refusal struct {
	Limit, Remaining int
	Wait             time.Duration
}

// Refusal describes the limit that a client has reached.
func (l *Limiter) Refusal(addr netip.Addr) Refusal {
	client := Network(addr)
	if site, ok := siteOf(client); ok && l.clients.Allows(client, l.limit) {
		return refusal(l.sites, site, siteFactor*l.limit)
	}
	return refusal(l.clients, client, l.limit)
}

func refusal[K comparable](w *Window[K], key K, limit int) Refusal {
	c, left := w.find(key)
	return Refusal{Limit: limit, Remaining: max(0, limit-c.n), Wait: left}
}
