package web

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// How long a timer runs at most before a waiting connection looks at its deadline again. One that writes also learns in
// this way that its client does not read.
const (
	lookAgainReading = 5 * time.Second
	lookAgainWriting = time.Second
)

// A lazyDeadlineConn has the deadlines it is given without arming a timer for each. net/http moves those of a
// connection several times a request, nearly always further away or when nobody waits: that is only remembered. That a
// timer comes too early costs one look every few seconds, and only where somebody waits.
type lazyDeadlineConn struct {
	net.Conn
	// unread is called in a write of which the client has taken nothing for lookAgainWriting; nil calls nothing.
	unread func()

	mu      sync.Mutex
	readers int // how many reads wait
	// read and write are the deadlines that are wanted, armed that of the connection beneath for reads, which is never
	// later than read while somebody waits; zero for none.
	read, write, armed time.Time
	// expired says that read had passed when it was armed.
	expired bool
}

// SetDeadline is that of [net.Conn].
func (c *lazyDeadlineConn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// SetWriteDeadline is that of [net.Conn]. A write that waits looks at it each second.
func (c *lazyDeadlineConn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.write = t
	return nil
}

// SetReadDeadline is that of [net.Conn]. It holds at once for a read that waits.
func (c *lazyDeadlineConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read = t
	if c.readers == 0 || !c.isLate() {
		return nil
	}
	return c.arm(time.Now())
}

// Write is that of [net.Conn].
func (c *lazyDeadlineConn) Write(b []byte) (int, error) {
	for done := 0; ; {
		c.mu.Lock()
		until, last := sooner(c.write, time.Now().Add(lookAgainWriting))
		c.mu.Unlock()
		if err := c.Conn.SetWriteDeadline(until); err != nil {
			return done, err
		}
		n, err := c.Conn.Write(b[done:])
		done += n
		if last || !errors.Is(err, os.ErrDeadlineExceeded) {
			return done, err
		}
		if n == 0 && c.unread != nil {
			c.unread()
		}
	}
}

// Read is that of [net.Conn].
func (c *lazyDeadlineConn) Read(b []byte) (int, error) {
	if err := c.beginRead(); err != nil {
		return 0, err
	}
	defer c.endRead()
	for {
		n, err := c.Conn.Read(b)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) || !c.mayReadOn() {
			return n, err
		}
	}
}

// beginRead is called before a read. A deadline that has passed is an error.
func (c *lazyDeadlineConn) beginRead() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.readers == 0 && c.isLate() {
		now := time.Now()
		if passed(c.read, now) {
			return os.ErrDeadlineExceeded
		}
		if err := c.arm(now); err != nil {
			return err
		}
	}
	c.readers++
	return nil
}

func (c *lazyDeadlineConn) endRead() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readers--
}

// mayReadOn reports whether the timer ran out before the deadline. It is armed anew then.
func (c *lazyDeadlineConn) mayReadOn() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	return !passed(c.read, now) && c.arm(now) == nil
}

// isLate reports whether the connection beneath would wait too long for a read, or not at all.
func (c *lazyDeadlineConn) isLate() bool {
	return c.expired || !c.read.IsZero() && (c.armed.IsZero() || c.read.Before(c.armed))
}

func (c *lazyDeadlineConn) arm(now time.Time) error {
	c.armed, c.expired = c.read, passed(c.read, now)
	if !c.read.IsZero() {
		c.armed, _ = sooner(c.read, now.Add(lookAgainReading))
	}
	return c.Conn.SetReadDeadline(c.armed)
}

// sooner returns the first of a deadline, which may be zero for none, and a time, and whether that is the deadline.
func sooner(deadline, at time.Time) (time.Time, bool) {
	if deadline.IsZero() || deadline.After(at) {
		return at, false
	}
	return deadline, true
}

func passed(deadline, now time.Time) bool { return !deadline.IsZero() && !deadline.After(now) }
