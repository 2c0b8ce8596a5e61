package web

import (
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign/internal/must"
)

func TestATimerThatRunsLateDoesNotCallTheNextWriteOverdue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStream()
		c := s.conn
		write := func(takes time.Duration, meanwhile func()) {
			must.Do(t, s.await(func() error { time.Sleep(takes); meanwhile(); return nil }))
		}
		stuck := func() bool { synctest.Wait(); return s.stuck }
		write(unreadAfter/2, func() {
			if c.slots.stickStream(s); stuck() {
				t.Error("the late timer of a write before counts")
			}
		})
		write(unreadAfter+time.Second, func() {
			if !stuck() {
				t.Error("a write that takes too long does not count")
			}
		})
		if stuck() {
			t.Error("after the client has read it counts still")
		}
		if c.slots.stickStream(s); stuck() {
			t.Error("the late timer of the last write counts")
		}
		c.slots.endStream(s)
		_ = c.Close()
	})
}

// newStream is a request of HTTP/2 that is at work, alone on its connection.
func newStream() *stream {
	here, _ := net.Pipe()
	c := newConn(here, newSlots(8, nil, func(reason) {}, func(reason) {}))
	c.over = make(chan struct{})
	c.slots.take(c)
	s := &stream{conn: c, began: time.Now()}
	c.slots.beginStream(c)
	c.slots.work(s)
	return s
}

// A client may give up a request whose response it does not read, and read what was sent after that. No request is left
// then, and nothing else will say that the connection is idle.
func TestAConnectionWhoseRequestWasGivenUpIsSilent(t *testing.T) {
	for name, steps := range map[string]func(s *stream, slots *slots){
		"before the stream counted as one that is not read": func(s *stream, slots *slots) {
			slots.stick(s.conn)
			slots.idle(s.conn)
			slots.endStream(s)
			slots.resume(s.conn)
		},
		"after that": func(s *stream, slots *slots) {
			_ = s.await(func() error {
				time.Sleep(unreadAfter / 2)
				slots.stick(s.conn)
				time.Sleep(unreadAfter)
				slots.idle(s.conn)
				return net.ErrClosed
			})
			slots.endStream(s)
			time.Sleep(unreadAfter + time.Second)
			slots.resume(s.conn)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStream()
				steps(s, s.conn.slots)
				time.Sleep(unreadAfter + time.Second)
				synctest.Wait()
				if !s.conn.silent {
					t.Error("the connection counts as one that is at work")
				}
				_ = s.conn.Close()
			})
		})
	}
}
