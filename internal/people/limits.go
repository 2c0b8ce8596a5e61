package people

import (
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
)

// How many attempts may fail within limitWindow. One address can't use up what
// an e-mail may fail. What several can use up does not keep out a browser that has
// signed in before: it is counted by itself.
const (
	limitWindow     = 15 * time.Minute
	addressFailures = 10
	emailFailures   = 30
	codeFailures    = 5  // of a user's second step
	againFailures   = 10 // of a signed-in user's password
	knownFailures   = 10 // of a known browser's password
	limitKeys       = 1 << 16
	limitSample     = 8
)

// limits counts failed attempts in this process's memory.
type limits struct{ address, email, code, again, known, knownCode *limiter }

func newLimits(now func() time.Time) limits {
	of := func(most int) *limiter { return &limiter{now: now, most: most, counts: map[string]failures{}} }
	return limits{
		address: of(addressFailures), email: of(emailFailures), code: of(codeFailures), again: of(againFailures),
		known: of(knownFailures), knownCode: of(codeFailures),
	}
}

// limiter counts failures by key in windows that begin with the first of them.
type limiter struct {
	now    func() time.Time
	most   int
	mu     sync.Mutex
	counts map[string]failures
}

type failures struct {
	n    int
	ends time.Time
}

// attempt is one try, counted as a failure until it has succeeded. Counting it
// beforehand keeps many at once within the limit.
type attempt struct{ undo []func() }

// succeeded takes the attempt out of the count.
func (a *attempt) succeeded() {
	for _, back := range a.undo {
		back()
	}
}

// try counts one attempt under a key of each limiter, or refuses it
// (rate_limited) and counts nothing.
func try(keys ...limitKey) (*attempt, error) {
	a := &attempt{}
	for _, k := range keys {
		back, wait := k.by.take(k.key)
		if wait > 0 {
			a.succeeded()
			return nil, tooMany(wait)
		}
		a.undo = append(a.undo, back)
	}
	return a, nil
}

type limitKey struct {
	by  *limiter
	key string
}

func tooMany(wait time.Duration) error {
	minutes := int((wait + time.Minute - 1) / time.Minute)
	in := fmt.Sprintf("%d minutes", minutes)
	if minutes == 1 {
		in = "a minute"
	}
	return fault.Limited(countersign.CodeRateLimited, "Too many attempts failed; try again in "+in, wait)
}

// take counts one attempt, or tells how long to wait before the next.
func (l *limiter) take(key string) (back func(), wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	f, known := l.counts[key]
	if !known {
		l.makeRoom(now)
	}
	if !now.Before(f.ends) {
		f = failures{ends: now.Add(limitWindow)}
	}
	if f.n >= l.most {
		return nil, f.ends.Sub(now)
	}
	f.n++
	l.counts[key] = f
	return func() { l.giveBack(key, f.ends) }, 0
}

func (l *limiter) giveBack(key string, window time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, known := l.counts[key]
	if !known || !f.ends.Equal(window) {
		return
	}
	if f.n--; f.n <= 0 {
		delete(l.counts, key)
		return
	}
	l.counts[key] = f
}

// makeRoom bounds the memory: it forgets what is over, else the smallest of a
// few counts, so that many strangers can't make a busy key forgotten.
func (l *limiter) makeRoom(now time.Time) {
	if len(l.counts) < limitKeys {
		return
	}
	least, smallest, seen := "", 0, 0
	for key, f := range l.counts {
		if !now.Before(f.ends) {
			f.n = 0
		}
		if seen == 0 || f.n < smallest {
			least, smallest = key, f.n
		}
		if seen++; seen == limitSample {
			break
		}
	}
	delete(l.counts, least)
}

// limitAddress is the key of a client: its address, or the /64 of IPv6, which
// one client has to itself.
func limitAddress(a netip.Addr) string {
	a = a.Unmap().WithZone("")
	if a.Is6() {
		if prefix, err := a.Prefix(64); err == nil {
			return prefix.String()
		}
	}
	return addressText(a)
}
