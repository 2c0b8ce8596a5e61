package web

import (
	"errors"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign/internal/expect"
)

// waits is how long a read or a write of a connection with nobody at the other end takes until its deadline.
func waits(t *testing.T, what func([]byte) (int, error)) time.Duration {
	t.Helper()
	start := time.Now()
	if _, err := what(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
	return time.Since(start)
}

func TestDeadlinesComeWhenTheyAreWanted(t *testing.T) {
	in := func(d time.Duration) func(c *lazyDeadlineConn) {
		return func(c *lazyDeadlineConn) { _ = c.SetDeadline(time.Now().Add(d)) }
	}
	past := func(c *lazyDeadlineConn) { _ = c.SetDeadline(time.Unix(1, 0)) }
	none := func(c *lazyDeadlineConn) { _ = c.SetDeadline(time.Time{}) }
	later := func(d time.Duration) func(*lazyDeadlineConn) { return func(*lazyDeadlineConn) { time.Sleep(d) } } // of the bubble's clock
	for _, tt := range []struct {
		name string
		do   []func(*lazyDeadlineConn)
		want time.Duration
	}{
		{"a near one", []func(*lazyDeadlineConn){in(time.Second)}, time.Second},
		{"one beyond the first look", []func(*lazyDeadlineConn){in(12 * time.Second)}, 12 * time.Second},
		{"a nearer one replaces a far one", []func(*lazyDeadlineConn){in(time.Minute), in(2 * time.Second)}, 2 * time.Second},
		{"a far one replaces a near one", []func(*lazyDeadlineConn){in(2 * time.Second), in(time.Minute)}, time.Minute},
		{"one that has passed", []func(*lazyDeadlineConn){in(time.Minute), past}, 0},
		{"one after one that had passed", []func(*lazyDeadlineConn){past, in(7 * time.Second)}, 7 * time.Second},
		{"one after none", []func(*lazyDeadlineConn){in(time.Second), none, in(6 * time.Second)}, 6 * time.Second},
		{"one set long after the last look ran out", []func(*lazyDeadlineConn){in(time.Second), none, later(time.Hour), in(3 * time.Second)}, 3 * time.Second},
		{"one that passed while nobody waited", []func(*lazyDeadlineConn){in(time.Second), later(time.Hour)}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := net.Pipe()
				defer a.Close()
				defer b.Close()
				c := newLazyDeadlineConn(a)
				for _, do := range tt.do {
					do(c)
				}
				expect.Equalf(t, waits(t, c.Read), tt.want, "a read waits")
				for _, do := range tt.do {
					do(c)
				}
				expect.Equalf(t, waits(t, c.Write), tt.want, "a write waits")
			})
		})
	}
}

func TestAReadThatWaitsIsInterrupted(t *testing.T) {
	for name, first := range map[string]time.Duration{"with a deadline": time.Minute, "without one": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := net.Pipe()
				defer a.Close()
				defer b.Close()
				c := newLazyDeadlineConn(a)
				if first > 0 {
					_ = c.SetReadDeadline(time.Now().Add(first))
				}
				ended := make(chan time.Duration)
				go func() { ended <- waits(t, c.Read) }()
				time.Sleep(13 * time.Second) // two looks, by the bubble's clock
				_ = c.SetReadDeadline(time.Unix(1, 0))
				expect.Equalf(t, <-ended, 13*time.Second, "it waited")
				_ = c.SetReadDeadline(time.Now().Add(3 * time.Second))
				expect.Equalf(t, waits(t, c.Read), 3*time.Second, "the next one waited")
			})
		})
	}
}

func TestBytesOfAWriteAreSentOnceAcrossLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		defer b.Close()
		c := newLazyDeadlineConn(a)
		_ = c.SetWriteDeadline(time.Now().Add(time.Minute))
		read := make(chan string)
		go func() {
			var got []byte
			for one := make([]byte, 1); ; time.Sleep(4 * time.Second) { // of the bubble's clock
				if _, err := b.Read(one); err != nil {
					read <- string(got)
					return
				}
				got = append(got, one[0])
			}
		}()
		if n, err := c.Write([]byte("slowly")); n != 6 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		_ = c.Close()
		expect.Equal(t, <-read, "slowly")
	})
}

func TestAWriteWhoseClientDoesNotReadIsNoticed(t *testing.T) {
	for _, tt := range []struct {
		name    string
		reads   time.Duration // how often the client reads a byte
		noticed bool
	}{
		{"a client that reads nothing", time.Hour, true},
		{"one that reads now and then", 700 * time.Millisecond, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := net.Pipe()
				defer b.Close()
				c := newLazyDeadlineConn(a)
				noticed, begun := time.Duration(0), time.Now()
				c.unread = func() {
					if noticed == 0 {
						noticed = time.Since(begun)
					}
				}
				left := make(chan struct{})
				go func() {
					defer close(left)
					for {
						time.Sleep(tt.reads) // of the bubble's clock
						if _, err := b.Read(make([]byte, 1)); err != nil {
							return
						}
					}
				}()
				_ = c.SetWriteDeadline(time.Now().Add(15 * time.Second))
				_, _ = c.Write(make([]byte, 1000))
				if (noticed != 0) != tt.noticed || noticed > 2*lookAgainWriting {
					t.Errorf("noticed after %s", noticed)
				}
				_ = a.Close()
				<-left
			})
		})
	}
}
