package web

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

// A caller sends one request after the other, on one connection for as long as the server leaves it or on a new one
// each time, until nobody accepts it any more.
type caller struct {
	addr    string
	request string
	answers *atomic.Int64
	broken  *atomic.Int64
	enough  func()
}

func (c caller) run() {
	for {
		conn, err := net.Dial("tcp", c.addr)
		if err != nil {
			return // refused: nothing was sent
		}
		c.ask(conn)
		_ = conn.Close()
	}
}

// ask uses one connection until its last answer.
func (c caller) ask(conn net.Conn) {
	in := bufio.NewReader(conn)
	for {
		if _, err := io.WriteString(conn, c.request); err != nil {
			c.broken.Add(1)
			return
		}
		res, err := http.ReadResponse(in, nil)
		if err == nil {
			_, err = io.Copy(io.Discard, res.Body)
		}
		if err != nil {
			c.broken.Add(1)
			return
		}
		if c.answers.Add(1) == 2000 {
			c.enough()
		}
		if res.Close {
			return
		}
	}
}

func TestAStopUnderLoadBreaksNoRequest(t *testing.T) {
	t.Parallel()
	for name, request := range map[string]string{
		"on connections that stay open": "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody",
		"on connections of their own":   "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, NewEdge(Options{}).Wrap(func(w http.ResponseWriter, r *http.Request) error {
				_, _ = io.Copy(io.Discard, r.Body)
				return OK(w, r, "data", "x")
			}), ServerOptions{})
			var answers, broken atomic.Int64
			var all sync.WaitGroup
			for range 64 {
				all.Go(caller{s.addr, request, &answers, &broken, s.stop}.run)
			}
			all.Wait()
			if err := <-s.done; err != nil {
				t.Errorf("the stop returned %v", err)
			}
			if broken.Load() > 0 || answers.Load() < 2000 {
				t.Errorf("%d requests answered, %d broken", answers.Load(), broken.Load())
			}
		})
	}
}

func TestAtAStopAConnectionHasOneMoreRequest(t *testing.T) {
	for _, tt := range []struct{ name, before, after string }{
		{"before its first", "", oneGet},
		{"after an answer", oneGet, oneGet},
		{"with half a header", "GET / HT", "TP/1.1\r\nHost: a\r\n\r\n"},
		{"with half a body", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbo", "dy"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newReading()
			s := start(t, NewEdge(Options{}).Wrap(func(w http.ResponseWriter, r *http.Request) error {
				h.ServeHTTP(w, r)
				return nil
			}), ServerOptions{})
			c := dial(t, s.addr, tt.before)
			if tt.before == oneGet {
				expect.Equalf(t, answerOn(t, c), "200 ", "before the stop")
			}
			s.stopped()
			must.Get(io.WriteString(c, tt.after))(t)
			expect.Equalf(t, answerOn(t, c), "200 , the last", "after the stop")
			if err := <-s.done; err != nil {
				t.Errorf("the stop returned %v", err)
			}
		})
	}
}

func TestAnAnswerThatIsUnderWayAtAStopSaysThatItIsTheLast(t *testing.T) {
	h := newReading()
	s := start(t, NewEdge(Options{}).Wrap(func(w http.ResponseWriter, r *http.Request) error {
		h.ServeHTTP(w, r)
		return nil
	}), ServerOptions{})
	c := dial(t, s.addr, oneWait)
	s.working(1)
	s.stopped()
	close(h.leave)
	expect.Equal(t, answerOn(t, c), "200 body, the last")
	if err := <-s.done; err != nil {
		t.Errorf("the stop returned %v", err)
	}
}

func TestAtAStopAHandlerWithoutAnEdgeSaysTheSame(t *testing.T) {
	s := start(t, newReading(), ServerOptions{})
	c := dial(t, s.addr, oneGet)
	expect.Equalf(t, answerOn(t, c), "200 ", "before the stop")
	s.stopped()
	must.Get(io.WriteString(c, oneGet))(t)
	expect.Equalf(t, answerOn(t, c), "200 , the last", "after the stop")
}

func TestAStopDoesNotWaitForSilentConnections(t *testing.T) {
	t.Parallel()
	s := start(t, http.NotFoundHandler(), ServerOptions{})
	never, once := dial(t, s.addr, ""), dial(t, s.addr, oneGet)
	answerOn(t, once)
	s.stop()
	if err := <-s.done; err != nil {
		t.Errorf("the stop returned %v", err)
	}
	untilClosed(never)
	untilClosed(once)
}
