package web

import "time"

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
