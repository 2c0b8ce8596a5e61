// Package limit counts events by key in windows of time and says who has had too many of them: failed guesses by
// client, requests by purchase code, successes by workspace. Counts can be exchanged with other servers ([Guesses.Unsent],
// [Guesses.Merge]).
package limit

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// windowKeys is the most keys that a Window remembers, about 6 MB of them. When it is full, a new key takes the
	// place of one with a small count, so that many strangers can't make a busy key forgotten.
	windowKeys = 1 << 16
	// evictionSample is how many keys a new one looks at. Those that are over are forgotten, so that
	// they are about an eighth of all; of a full window, the one with the smallest count is, too.
	evictionSample = 8
)

// Window counts events by key in windows of one length, each beginning with the key's first event. Its memory is
// bounded, and asking costs a few nanoseconds while nothing has been counted. It is safe for concurrent use.
type Window[K comparable] struct {
	now    func() time.Time
	length time.Duration
	keys   atomic.Int64 // the expired ones included
	// servers is how many servers count together; 0 and 1 mean this one alone.
	servers atomic.Int64

	mu     sync.Mutex
	counts map[K]windowCount
	latest time.Time // when the youngest window began
}

// windowCount is a key's window: n events, own of them counted here, of which the other servers do not know unsent yet.
// held more are being tried.
type windowCount struct {
	n, own, unsent, held int
	start                time.Time
}

// NewWindow returns an empty window of a length; now is its clock, and nil means time.Now.
func NewWindow[K comparable](length time.Duration, now func() time.Time) *Window[K] {
	if now == nil {
		now = time.Now
	}
	return &Window[K]{now: now, length: length}
}

// Retry returns how long the key's present window still lasts; 0 when it has none.
func (w *Window[K]) Retry(key K) time.Duration {
	_, left := w.find(key)
	return left
}

// Allows reports whether the key's window has room for one more event under limit. It counts nothing.
func (w *Window[K]) Allows(key K, limit int) bool {
	if limit <= 0 || w.keys.Load() == 0 {
		return true
	}
	c, _ := w.find(key)
	return !w.full(c, limit)
}

// Take counts one event if the key's window has fewer than limit of them, and reports whether it did. A limit of 0 or
// less means no limit: nothing is counted.
func (w *Window[K]) Take(key K, limit int) bool {
	if limit <= 0 {
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	c, ok := w.place(key, limit)
	if !ok {
		return false
	}
	c.n++
	c.own++
	c.unsent++
	w.counts[key] = c
	return true
}

// Hold is [Window.Take] for an event that may yet turn out not to be one. It has its place under the limit until end
// says whether it happened.
func (w *Window[K]) Hold(key K, limit int) (end func(happened bool), ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, ok := w.place(key, limit)
	if !ok {
		return nil, false
	}
	c.held++
	w.counts[key] = c
	return func(happened bool) { w.release(key, happened) }, true
}

// release ends one event that was held. One that comes after its window is forgotten with it.
func (w *Window[K]) release(key K, happened bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.counts[key]
	if c.held == 0 {
		return
	}
	c.held--
	if happened {
		c.n++
		c.own++
		c.unsent++
	}
	if c.n+c.held == 0 {
		delete(w.counts, key)
		return
	}
	w.counts[key] = c
}

// place returns the key's window, or a new one, if one more event has room in it.
func (w *Window[K]) place(key K, limit int) (c windowCount, ok bool) {
	now := w.now()
	c, known := w.counts[key]
	if w.left(c, now) <= 0 {
		c = windowCount{start: now}
		w.latest = now
	}
	if w.full(c, limit) {
		return c, false
	}
	if !known {
		w.makeRoom(now)
	}
	return c, true
}

// full reports whether a window has no room left. Servers that count together do not know each other's latest events, so
// where more than two do, each counts no more itself than leaves all of them within twice the limit.
func (w *Window[K]) full(c windowCount, limit int) bool {
	servers := int(w.servers.Load())
	return c.n+c.held >= limit || servers > 2 && (c.own+c.held)*servers >= 2*limit
}

// find returns the key's present window and how long it still lasts; zero values when it has none.
func (w *Window[K]) find(key K) (c windowCount, left time.Duration) {
	if w.keys.Load() == 0 {
		return windowCount{}, 0
	}
	now := w.now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if now.Sub(w.latest) >= w.length { // all are over
		w.counts = nil
		w.keys.Store(0)
	}
	c = w.counts[key]
	if left = w.left(c, now); left <= 0 {
		return windowCount{}, 0
	}
	return c, left
}

// left returns how long the window that began at start still lasts. A clock that was set back ends it.
func (w *Window[K]) left(c windowCount, now time.Time) time.Duration {
	age := now.Sub(c.start)
	if age < 0 {
		return 0
	}
	return w.length - age
}

// makeRoom makes sure that one more key fits.
func (w *Window[K]) makeRoom(now time.Time) {
	if w.counts == nil {
		w.counts = make(map[K]windowCount)
	}
	w.forget(now)
	w.keys.Store(int64(len(w.counts)) + 1)
}

// forget looks at a few keys and forgets those that are over. If there is still no room, it forgets
// the one of them with the smallest count.
func (w *Window[K]) forget(now time.Time) {
	var least K
	count, seen := 0, 0
	for key, c := range w.counts {
		if seen++; seen > evictionSample {
			break
		}
		switch {
		case w.left(c, now) <= 0:
			delete(w.counts, key)
		case count == 0 || c.n+c.held < count:
			least, count = key, c.n+c.held
		}
	}
	if len(w.counts) >= windowKeys {
		delete(w.counts, least)
	}
}
