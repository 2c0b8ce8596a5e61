package web

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

// dial opens a connection and sends text on it.
func dial(t *testing.T, addr, text string) net.Conn {
	t.Helper()
	c := must.Get(net.Dial("tcp", addr))(t)
	t.Cleanup(func() { _ = c.Close() })
	must.Get(io.WriteString(c, text))(t)
	return c
}

// answerOn reads one answer from a connection.
func answerOn(t *testing.T, c net.Conn) string {
	t.Helper()
	res := must.Get(http.ReadResponse(bufio.NewReader(c), nil))(t)
	defer res.Body.Close()
	got := fmt.Sprint(res.StatusCode, " ", bodyOf(t, res))
	if res.Close {
		got += ", the last"
	}
	return got
}

// untilClosed waits until the server has closed the connection.
func untilClosed(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// reading is a handler that says that it has a request, reads its body and answers when it is told to.
type reading struct{ entered, leave chan struct{} }

func newReading() reading { return reading{make(chan struct{}, 100), make(chan struct{})} }

func (h reading) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.entered <- struct{}{}
	body, err := io.ReadAll(r.Body)
	if err != nil || r.URL.Path != "/wait" {
		body = nil
	} else {
		<-h.leave
	}
	_, _ = w.Write(body)
}

const (
	oneGet  = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
	oneWait = "POST /wait HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody"
)

func TestConnectionsWithoutACompleteRequestMakeRoom(t *testing.T) {
	for _, tt := range []struct {
		name, text       string
		handled, answers int
	}{
		{name: "nothing sent"},
		{name: "a header that does not end", text: "GET / HTTP/1.1\r\nHost: a\r\nX: "},
		{name: "a body that does not end", text: "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbod", handled: 1},
		{name: "chunks that do not end", text: "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n", handled: 1},
		{name: "nothing after an answer", text: oneGet, handled: 1, answers: 1},
		{name: "a body that does not end after an answer", text: oneGet + "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbod", handled: 2, answers: 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newReading()
			m := NewMetrics("v")
			s := start(t, h, ServerOptions{MaxConnections: 4, Metrics: m})
			silent := make([]net.Conn, 4)
			for i := range silent {
				silent[i] = dial(t, s.addr, tt.text)
				for range tt.handled {
					<-h.entered
				}
				for range tt.answers {
					answerOn(t, silent[i])
				}
				s.working(0) // the client has the answer before the connection is silent again
			}
			for _, c := range silent { // each new one takes the place of the one that came first
				expect.Equal(t, answerOn(t, dial(t, s.addr, oneGet)), "200 ")
				untilClosed(c)
			}
			// None of them left by a timeout.
			if got := scrape(t, m); !bytes.Contains(got, []byte(`countersign_http_connections_closed_total{reason="address"} 4`)) {
				t.Errorf("not four connections made room:\n%s", got)
			}
		})
	}
}

func TestACompleteRequestKeepsItsConnection(t *testing.T) {
	h := newReading()
	s := start(t, h, ServerOptions{MaxConnections: 2})
	at := dial(t, s.addr, oneWait)
	s.working(1)
	for range 5 {
		expect.Equal(t, answerOn(t, dial(t, s.addr, oneGet)), "200 ")
	}
	close(h.leave)
	expect.Equalf(t, answerOn(t, at), "200 body", "the one at work")
}

func TestWithoutASilentConnectionANewOneWaits(t *testing.T) {
	h := newReading()
	s := start(t, h, ServerOptions{MaxConnections: 2})
	all := []net.Conn{dial(t, s.addr, oneWait), dial(t, s.addr, oneWait)}
	s.working(2)
	all = append(all, dial(t, s.addr, oneWait))
	expect.Equalf(t, len(h.entered), 2, "requests on two connections")
	close(h.leave)
	for _, c := range all {
		expect.Equal(t, answerOn(t, c), "200 body")
	}
}

// The deadline of a write is hours away: without its slot being taken, the client that does not read would keep it.
func TestAConnectionWhoseClientDoesNotReadMakesRoom(t *testing.T) {
	t.Parallel()
	endless := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.URL.Path == "/endless" {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				return
			}
		}
	})
	s := start(t, endless, ServerOptions{MaxConnections: 4, Longer: 10 * time.Hour})
	for range 4 {
		dial(t, s.addr, "GET /endless HTTP/1.1\r\nHost: a\r\n\r\n")
	}
	s.working(4)
	expect.Equal(t, answerOn(t, dial(t, s.addr, oneGet)), "200 ")
}

func TestTheQuarterIsNotThatOfATrustedProxy(t *testing.T) {
	t.Parallel()
	out := new(bytes.Buffer)
	m := NewMetrics("v")
	s := start(t, http.NotFoundHandler(), ServerOptions{
		MaxConnections: 2, Metrics: m, Log: slog.New(slog.NewTextHandler(out, nil)),
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	})
	for range 5 {
		answerOn(t, dial(t, s.addr, oneGet))
	}
	s.stop()
	must.Do(t, <-s.done)
	if got := scrape(t, m); !bytes.Contains(got, []byte(`countersign_http_connections_closed_total{reason="silent"} 3`)) ||
		!bytes.Contains(got, []byte(`countersign_http_connections_closed_total{reason="address"} 0`)) {
		t.Errorf("not three for silence: %s", got)
	}
	if got := out.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "all connections are in use") || !strings.Contains(got, "limit=2") {
		t.Errorf("the log says %s", got)
	}
}
