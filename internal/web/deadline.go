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

// A lazyDeadlineConn has the deadlines it is given without arming a timer for each. net/http moves the deadlines of a
// connection seven times a request, nearly always further away or when nobody waits: that is only remembered. A timer
// that fires too early costs one check every few seconds, and only where somebody waits.
type lazyDeadlineConn struct {
	net.Conn
	read, write deadline
	// unread is called in a write of which the client has taken nothing for lookAgainWriting; nil calls nothing.
	unread func()
}

func newLazyDeadlineConn(c net.Conn) *lazyDeadlineConn {
	return &lazyDeadlineConn{
		Conn:  c,
		read:  deadline{set: c.SetReadDeadline, lookAgain: lookAgainReading},
		write: deadline{set: c.SetWriteDeadline, lookAgain: lookAgainWriting},
	}
}

// SetReadDeadline is that of [net.Conn].
func (c *lazyDeadlineConn) SetReadDeadline(t time.Time) error { return c.read.want(t) }

// SetWriteDeadline is that of [net.Conn].
func (c *lazyDeadlineConn) SetWriteDeadline(t time.Time) error { return c.write.want(t) }

// SetDeadline is that of [net.Conn].
func (c *lazyDeadlineConn) SetDeadline(t time.Time) error {
	return errors.Join(c.read.want(t), c.write.want(t))
}

// Read is that of [net.Conn].
func (c *lazyDeadlineConn) Read(b []byte) (int, error) {
	if err := c.read.begin(); err != nil {
		return 0, err
	}
	defer c.read.end()
	for {
		n, err := c.Conn.Read(b)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) || !c.read.early() {
			return n, err
		}
	}
}

// Write is that of [net.Conn].
func (c *lazyDeadlineConn) Write(b []byte) (int, error) {
	if err := c.write.begin(); err != nil {
		return 0, err
	}
	defer c.write.end()
	whole := false // the timer ran for all of its time
	for done := 0; ; {
		n, err := c.Conn.Write(b[done:])
		done += n
		if !errors.Is(err, os.ErrDeadlineExceeded) || !c.write.early() {
			return done, err
		}
		if whole && n == 0 && c.unread != nil {
			c.unread()
		}
		whole = true
	}
}

// A deadline is what is wanted and what the connection beneath was armed, which is never later while somebody waits.
type deadline struct {
	set func(time.Time) error
	// lookAgain is how long the connection beneath is armed to wait at most.
	lookAgain time.Duration

	mu      sync.Mutex
	waiting int
	// wanted and armed are zero for none.
	wanted, armed time.Time
	// expired reports that wanted had passed when the timer was armed.
	expired bool
}

// want sets the deadline, for those who wait too.
func (d *deadline) want(t time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wanted = t
	if d.waiting == 0 || !d.late() {
		return nil
	}
	return d.arm(time.Now())
}

// begin is called before a wait. A deadline that has passed is an error.
func (d *deadline) begin() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.waiting == 0 && d.late() {
		now := time.Now()
		if d.passed(now) {
			return os.ErrDeadlineExceeded
		}
		if err := d.arm(now); err != nil {
			return err
		}
	}
	d.waiting++
	return nil
}

// end is called after a wait.
func (d *deadline) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting--
}

// early reports whether the connection's time ran out before it was wanted to; then it may go on.
func (d *deadline) early() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	return !d.passed(now) && d.arm(now) == nil
}

// late reports whether the connection beneath would wait too long, or not at all.
func (d *deadline) late() bool {
	return d.expired || !d.wanted.IsZero() && (d.armed.IsZero() || d.wanted.Before(d.armed))
}

func (d *deadline) passed(now time.Time) bool {
	return !d.wanted.IsZero() && !d.wanted.After(now)
}

func (d *deadline) arm(now time.Time) error {
	d.armed, d.expired = d.wanted, d.passed(now)
	if next := now.Add(d.lookAgain); d.wanted.After(next) {
		d.armed = next
	}
	return d.set(d.armed)
}
