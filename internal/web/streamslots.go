package web

import "time"

const (
	// fewStreams is how many requests of a connection are served in any case.
	fewStreams = 4
	// unreadLong is how long nothing is read on a connection before it gets no more than these.
	unreadLong = 5 * time.Second
)

// hasMany reports whether a connection has many requests, and whether the client has not read the responses of many for
// a while.
func (s *slots) hasMany(c *conn) (many, unread bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.streams >= fewStreams, c.unread >= fewStreams && time.Since(time.Unix(0, c.taken.Load())) >= unreadLong
}

// isShared reports whether a connection has had other requests since it was idle. It is asked once by each that ends.
func (s *slots) isShared(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	shared := c.ended || c.streams > 1
	c.ended = true
	return shared
}

// beginStream notes a request of HTTP/2, which may not have arrived to its end.
func (s *slots) beginStream(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.streams++
}

// work notes that a request of HTTP/2 has arrived to its end.
func (s *slots) work(t *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := t.conn; !t.atWork {
		t.atWork = true
		c.atWork++
		s.unlist(c)
	}
}

// stickStream notes that the client of a stream does not read.
func (s *slots) stickStream(t *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := t.conn
	if !t.isOverdue() || !t.atWork {
		return
	}
	t.atWork, t.stuck = false, true
	c.unread++
	if c.atWork--; c.atWork == 0 {
		s.listStuck(c)
	}
}

// goOn notes that the client of a stream has read after all.
func (s *slots) goOn(t *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := t.conn; t.stuck {
		t.atWork, t.stuck = true, false
		c.atWork++
		c.unread--
		s.unlist(c)
	}
}

// endStream notes that the handler of a stream has returned. The end of its response may still have to be sent;
// connState learns when the last stream of a connection is over.
func (s *slots) endStream(t *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := t.conn
	c.streams--
	if t.atWork {
		t.atWork = false
		c.atWork--
	}
	switch {
	case !c.open || c.silent || c.atWork > 0:
	case c.streams > 0:
		s.fallSilent(c)
		c.begun.Store(true) // the other requests have
		s.changed.Signal()
	default:
		s.awaitEnd(c)
	}
}

// awaitEnd makes c silent unless it becomes idle in time: its last response may have to be sent to the end, or its client
// has given up the request.
func (s *slots) awaitEnd(c *conn) {
	if c.sending == nil {
		c.sending = time.AfterFunc(unreadAfter, func() { s.stickEnd(c) })
		return
	}
	c.sending.Reset(unreadAfter)
}

// stickEnd notes that the end of a response was not read in time.
func (s *slots) stickEnd(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.atWork == 0 {
		s.listStuck(c)
	}
}
