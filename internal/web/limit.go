package web

import (
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/countersign/countersign"
)

// Limiter counts the failures of each client ([LimitKey]) and says who had too many of them within a minute.
type Limiter struct {
	limit    int
	failures *Window[netip.Prefix]
}

// NewLimiter allows each client limit failures a minute; 0 switches the limiter off. now is its clock, and nil means
// time.Now.
func NewLimiter(limit int, now func() time.Time) *Limiter {
	return &Limiter{limit: limit, failures: NewWindow[netip.Prefix](now)}
}

// Allowed reports whether the client may fail once more. It counts nothing.
func (l *Limiter) Allowed(addr netip.Addr) bool {
	return l.limit <= 0 || l.failures.keys.Load() == 0 || l.failures.Count(LimitKey(addr)) < l.limit
}

// Fail counts one failure of the client.
func (l *Limiter) Fail(addr netip.Addr) {
	if l.limit > 0 {
		l.failures.Add(LimitKey(addr))
	}
}

// Retry returns how long a client that is not allowed has to wait.
func (l *Limiter) Retry(addr netip.Addr) time.Duration { return l.failures.Retry(LimitKey(addr)) }

// Refuse returns the error for a client that is not allowed (429, rate_limited), and sets the RateLimit headers that
// go with it.
func (l *Limiter) Refuse(w http.ResponseWriter, addr netip.Addr) error {
	n, wait := l.failures.look(LimitKey(addr))
	return Refuse(w, countersign.CodeRateLimited, l.limit, max(0, l.limit-n), wait)
}

// Refuse returns the error of somebody who has used up limit and may come back after wait (429), and sets the headers
// RateLimit-Limit, RateLimit-Remaining and RateLimit-Reset (whole seconds). The code is rate_limited or quota_exceeded.
func Refuse(w http.ResponseWriter, code string, limit, remaining int, wait time.Duration) error {
	wait = max(wait, time.Second)
	h := w.Header()
	h["Ratelimit-Limit"] = []string{strconv.Itoa(limit)}
	h["Ratelimit-Remaining"] = []string{strconv.Itoa(remaining)}
	h["Ratelimit-Reset"] = []string{wholeSeconds(wait)}
	return &countersign.Error{
		Kind: countersign.KindLimited, Code: code, Message: countersign.MsgLimited, RetryAfter: wait,
	}
}
