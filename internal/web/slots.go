package web

import (
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign/internal/limit"
)

// idleGrace is how long a stop leaves a connection without a request open, for a request that is on its way.
const idleGrace = time.Second

// slots are the connections of a listener that may be open at once. A connection is silent until a request has arrived
// to its end, and again once the response is sent, or while its client does not read the response. Everything here takes
// the same short time however many there are.
type slots struct {
	limit, quarter int
	deliveries     *deliveries
	// exempt are networks whose addresses have no quarter.
	exempt []netip.Prefix
	note   func(evicted reason)
	// stopping reports that each response is the last of its connection.
	stopping atomic.Bool
	// ending is closed when stopping begins.
	ending chan struct{}
	// settled is closed when a stop has no connection left.
	settled chan struct{}

	mu      sync.Mutex
	changed sync.Cond // a slot is free, or a connection became silent
	closed  bool
	open    int
	stuck   int // of those that are silent, how many have a response that their client does not read
	turn    uint64
	silent  chain[conn]
	holders map[netip.Prefix]*holder
	large   []*holder // those that hold a quarter or more: four at most
}

// A holder is an address ([limit.Network]) and its connections.
type holder struct {
	key    netip.Prefix
	open   int
	silent chain[conn]
}

// A reason says why a connection was closed to make room, or a response broken off.
type reason string

const (
	reasonSilent  reason = "silent"  // it was silent longest of all
	reasonAddress reason = "address" // it was silent longest of an address that holds a quarter of the slots
	reasonRefused reason = "refused" // it is new, of an address that holds a quarter, or nothing can make room for it
	reasonAll     reason = "all"     // of a response: all together hold as much as they may
)

func newSlots(limit int, exempt []netip.Prefix, note, noteBroken func(reason)) *slots {
	s := &slots{
		limit: limit, quarter: max(1, limit/4), exempt: unmapped(exempt), note: note,
		deliveries: newDeliveries(load{maxRequests, maxUnsent}, exempt, noteBroken),
		settled:    make(chan struct{}), ending: make(chan struct{}), holders: map[netip.Prefix]*holder{},
		silent: chain[conn]{link: func(c *conn) *links[conn] { return &c.inSlots }},
	}
	s.changed.L = &s.mu
	return s
}

// take assigns a slot to c, and closes a silent connection or waits for it. It returns false at a stop. It also returns
// false for an address that has a quarter of the slots, all with requests, if only others have silent connections.
func (s *slots) take(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.open >= s.limit && !s.closed {
		victim, why := s.longestSilent()
		if victim == nil {
			s.changed.Wait()
			continue
		}
		if why == reasonSilent && s.isLarge(c) {
			s.mu.Unlock()
			s.note(reasonRefused)
			s.mu.Lock()
			return false
		}
		unread := victim.stuck
		s.drop(victim)
		s.mu.Unlock()
		s.note(why)
		if unread {
			victim.discard()
		} else {
			_ = victim.Conn.Close() // there is nobody to tell
		}
		s.mu.Lock()
	}
	if s.closed {
		return false
	}
	s.add(c)
	return true
}

// longestSilent is the connection to close when slots run out; nil while none is silent.
func (s *slots) longestSilent() (*conn, reason) {
	var longest *conn
	for _, h := range s.large {
		if c := h.silent.first; c != nil && (longest == nil || c.turn < longest.turn) {
			longest = c
		}
	}
	if longest != nil {
		return longest, reasonAddress
	}
	return s.silent.first, reasonSilent
}

// isLarge reports whether the address of c holds a quarter of the slots without it.
func (s *slots) isLarge(c *conn) bool {
	if contains(s.exempt, c.peer) {
		return false
	}
	h := s.holders[limit.Network(c.peer)]
	return h != nil && h.open >= s.quarter
}

func (s *slots) add(c *conn) {
	c.open = true
	s.open++
	if !contains(s.exempt, c.peer) {
		key := limit.Network(c.peer)
		h := s.holders[key]
		if h == nil {
			h = &holder{key: key, silent: chain[conn]{link: func(c *conn) *links[conn] { return &c.inOwner }}}
			s.holders[key] = h
		}
		c.holder = h
		if h.open++; h.open == s.quarter {
			s.large = append(s.large, h)
		}
	}
	s.fallSilent(c)
}

// drop takes the slot of c away.
func (s *slots) drop(c *conn) {
	s.unlist(c)
	c.open = false
	s.open--
	if h := c.holder; h != nil {
		if h.open == s.quarter {
			s.large = slices.DeleteFunc(s.large, func(other *holder) bool { return other == h })
		}
		if h.open--; h.open == 0 {
			delete(s.holders, h.key)
		}
	}
	s.settle()
}

// fallSilent makes c silent.
func (s *slots) fallSilent(c *conn) {
	s.list(c)
	c.begun.Store(false)
	if s.stopping.Load() {
		s.closeLater(c)
	}
}

// list puts c at the end of those that are silent.
func (s *slots) list(c *conn) {
	s.turn++
	c.silent, c.turn = true, s.turn
	s.silent.push(c)
	if c.holder != nil {
		c.holder.silent.push(c)
	}
}

func (s *slots) unlist(c *conn) {
	if !c.silent {
		return
	}
	c.silent = false
	if c.stuck {
		c.stuck = false
		s.stuck--
	}
	s.silent.remove(c)
	if c.holder != nil {
		c.holder.silent.remove(c)
	}
}

// busy notes that a request has arrived to its end.
func (s *slots) busy(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unlist(c)
}

// stick notes that the client of c does not read its response, until busy is called. It reports whether c was at work
// before. A stop does not close c for that.
func (s *slots) stick(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listStuck(c)
}

// listStuck makes c silent because its client does not read. It reports whether c was at work before.
func (s *slots) listStuck(c *conn) bool {
	if !c.open || c.silent {
		return false
	}
	s.list(c)
	c.stuck = true
	s.stuck++
	c.begun.Store(true)
	s.changed.Signal()
	return true
}

// resume notes that the client of c has read after all. A connection of HTTP/2 may have become idle meanwhile, because its
// client has given up the request: then it stays silent.
func (s *slots) resume(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !c.stuck || c.streams > 0 && c.atWork == 0 {
		return
	}
	s.unlist(c)
	if c.over != nil && c.atWork == 0 {
		s.awaitEnd(c)
	}
}

// idle notes that the response was sent.
func (s *slots) idle(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.ended = false
	if c.open {
		s.unlist(c)
		s.fallSilent(c)
		s.changed.Signal()
	}
}

// release frees the slot of a connection that was closed.
func (s *slots) release(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.open {
		s.drop(c)
		s.changed.Signal()
	}
}

// stop makes each response the last of its connection, and closes those that stay without a request.
func (s *slots) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stopping.Swap(true) {
		close(s.ending)
	}
	for c := s.silent.first; c != nil; c = c.inSlots.next {
		s.closeLater(c)
	}
}

// closeLater closes c unless a request has begun to arrive by then.
func (s *slots) closeLater(c *conn) {
	turn := c.turn
	time.AfterFunc(idleGrace, func() {
		s.mu.Lock()
		idle := c.silent && c.turn == turn && !c.begun.Load()
		if idle {
			s.drop(c)
		}
		s.mu.Unlock()
		if idle {
			_ = c.Conn.Close() // there is nobody to tell
		}
	})
}

// close ends the wait for a slot.
func (s *slots) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.changed.Broadcast()
	s.settle()
}

// settle reports when no connection is left and none can come.
func (s *slots) settle() {
	if !s.closed || s.open > 0 {
		return
	}
	select {
	case <-s.settled:
	default:
		close(s.settled)
	}
}

// working is how many requests are under way.
func (s *slots) working() int {
	working, _ := s.count()
	return working
}

// count returns how many requests are under way, and how many connections are open.
func (s *slots) count() (working, open int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open - s.silent.length + s.stuck, s.open
}
