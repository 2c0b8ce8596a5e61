package web

import (
	"net"
	"testing"
	"testing/synctest"
	"time"
)

func TestATimerThatRunsLateDoesNotCallTheNextWriteOverdue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, _ := net.Pipe()
		c := newConn(here, newSlots(8, nil, func(reason) {}))
		c.slots.take(c)
		s := &stream{conn: c, began: time.Now()}
		c.slots.beginStream(c)
		c.slots.work(s)
		write := func(takes time.Duration, meanwhile func()) {
			if err := s.await(func() error { time.Sleep(takes); meanwhile(); return nil }); err != nil {
				t.Fatal(err)
			}
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
