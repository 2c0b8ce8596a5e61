// Package limit counts events by key in windows of time and says who has had too many of them: failed guesses by
// client, requests by purchase code, successes by workspace. Counts can be exchanged with other servers ([Guard.Unsent],
// [Guard.Merge]).
package limit

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// windowShards is into how many independently locked parts the keys are spread.
	windowShards = 64
	// windowKeys is the most keys that a Window remembers, about 6 MB of them. When a shard is full, a new key takes the
	// place of one with a small count, so that many strangers can't make a busy key forgotten.
	windowKeys = 1 << 16
	// evictionSample is among how many keys the one to forget is chosen.
	evictionSample = 8
)

// Window counts events by key in windows of one length, each beginning with the key's first event. Its memory is
// bounded, and asking costs a few nanoseconds while nothing has been counted. It is safe for concurrent use.
type Window[K comparable] struct {
	now    func() time.Time
	length time.Duration
	seed   maphash.Seed
	keys   atomic.Int64 // in all shards, the expired ones included
	// servers is how many servers count together; 0 and 1 mean this one alone.
	servers atomic.Int64
	shards  [windowShards]windowShard[K]
}

type windowShard[K comparable] struct {
	mu     sync.Mutex
	counts map[K]windowCount
	latest time.Time // when the youngest window of the shard began
}

// windowCount is a key's window: n events, own of them counted here, of which the other servers do not know unsent yet.
type windowCount struct {
	n, own, unsent int
	start          time.Time
}

// NewWindow makes an empty window of a minute; now is its clock, and nil means time.Now.
func NewWindow[K comparable](now func() time.Time) *Window[K] {
	return NewLongWindow[K](time.Minute, now)
}

// NewLongWindow makes an empty window of a length of its own.
func NewLongWindow[K comparable](length time.Duration, now func() time.Time) *Window[K] {
	if now == nil {
		now = time.Now
	}
	return &Window[K]{now: now, length: length, seed: maphash.MakeSeed()}
}

// Count returns how many events the key's present window has.
func (w *Window[K]) Count(key K) int {
	c, _ := w.find(key)
	return c.n
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

// Add counts one event and returns how many the key's window has now.
func (w *Window[K]) Add(key K) int {
	s, now := w.shard(key), w.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	return w.add(s, key, now)
}

// Take counts one event if the key's window has fewer than limit of them, and reports whether it did. A limit of 0 or
// less means no limit: nothing is counted.
func (w *Window[K]) Take(key K, limit int) bool {
	if limit <= 0 {
		return true
	}
	s, now := w.shard(key), w.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.counts[key]; ok && w.left(c, now) > 0 && w.full(c, limit) {
		return false
	}
	w.add(s, key, now)
	return true
}

// full reports whether a window has no room left. Servers that count together do not know each other's latest events, so
// where more than two do, each counts no more itself than leaves all of them within twice the limit.
func (w *Window[K]) full(c windowCount, limit int) bool {
	servers := int(w.servers.Load())
	return c.n >= limit || servers > 2 && c.own*servers >= 2*limit
}

func (w *Window[K]) shard(key K) *windowShard[K] {
	return &w.shards[maphash.Comparable(w.seed, key)%windowShards]
}

// find returns the key's present window and how long it still lasts; zero values when it has none.
func (w *Window[K]) find(key K) (c windowCount, left time.Duration) {
	if w.keys.Load() == 0 {
		return windowCount{}, 0
	}
	s := w.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.counts) == 0 {
		return windowCount{}, 0
	}
	now := w.now()
	if now.Sub(s.latest) >= w.length {
		w.forgetAll(s)
		return windowCount{}, 0
	}
	c = s.counts[key]
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

func (w *Window[K]) add(s *windowShard[K], key K, now time.Time) int {
	c, ok := s.counts[key]
	if w.left(c, now) <= 0 {
		c = windowCount{start: now}
		s.latest = now
	}
	if !ok {
		w.makeRoom(s, now)
	}
	c.n++
	c.own++
	c.unsent++
	s.counts[key] = c
	return c.n
}

// makeRoom makes sure that one more key fits into the shard.
func (w *Window[K]) makeRoom(s *windowShard[K], now time.Time) {
	if s.counts == nil {
		s.counts = make(map[K]windowCount)
	}
	if len(s.counts) >= windowKeys/windowShards {
		w.evict(s, now)
	}
	w.keys.Add(1)
}

// evict forgets the least of a few keys, an expired one before all others.
func (w *Window[K]) evict(s *windowShard[K], now time.Time) {
	var least K
	count, seen := 0, 0
	for key, c := range s.counts {
		if w.left(c, now) <= 0 {
			c.n = 0
		}
		if seen == 0 || c.n < count {
			least, count = key, c.n
		}
		if seen++; seen == evictionSample {
			break
		}
	}
	delete(s.counts, least)
	w.keys.Add(-1)
}

// forgetAll gives a shard's memory back when all its windows are over.
func (w *Window[K]) forgetAll(s *windowShard[K]) {
	w.keys.Add(-int64(len(s.counts)))
	s.counts = nil
}
