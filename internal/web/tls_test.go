package web

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/webtest"
)

// A secured is a server with TLS under test, and what its clients need.
type secured struct {
	started
	config *tls.Config
}

func startTLS(t *testing.T, h http.Handler, o ServerOptions) secured {
	t.Helper()
	return startTLSFor(t, h, o, StopGrace+o.Longer)
}

// startTLSFor is startTLS of a server with a grace of its own.
func startTLSFor(t *testing.T, h http.Handler, o ServerOptions, grace time.Duration) secured {
	t.Helper()
	c := webtest.NewCertificate(t, time.Now().Add(24*time.Hour), "shop.example", "127.0.0.1")
	o.TLS = c.Server(t)
	config := webtest.Client(c)
	config.ServerName = "shop.example"
	return secured{startFor(t, h, o, grace), config}
}

// dial opens a connection, which has ended its handshake.
func (s secured) dial(t *testing.T, text string, protocols ...string) *tls.Conn {
	t.Helper()
	config := s.config.Clone()
	config.NextProtos = protocols
	c := must.Get(tls.Dial("tcp", s.addr, config))(t)
	t.Cleanup(func() { _ = c.Close() })
	must.Get(io.WriteString(c, text))(t)
	return c
}

func TestOverTLSTheAddressesOfAResponseSayHTTPS(t *testing.T) {
	s := startTLS(t, NewEdge(Options{}).Wrap(func(w http.ResponseWriter, r *http.Request) error {
		return OK(w, r, "data", []any{BaseURL(w, r), OwnURL(r), IsHTTPS(w, r), ClientAddr(w)})
	}), ServerOptions{})
	want := `200 {"status":"success","data":["https://a","https://` + s.addr + `",true,"127.0.0.1"]}`
	if got := answerOn(t, s.dial(t, oneGet)); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestPlainHTTPOnAPortOfTLSIsAnswered(t *testing.T) {
	s := startTLS(t, http.NotFoundHandler(), ServerOptions{})
	res := must.Get(http.ReadResponse(bufio.NewReader(dial(t, s.addr, oneGet)), nil))(t)
	defer res.Body.Close()
	if got := bodyOf(t, res); res.StatusCode != 400 || got != `{"status":"error","msg":"This port is for https"}` {
		t.Errorf("%d %s", res.StatusCode, got)
	}
}

func TestConnectionsWithoutAHandshakeMakeRoom(t *testing.T) {
	for name, text := range map[string]string{
		"nothing sent":               "",
		"a handshake that stays cut": "\x16\x03\x01\x02\x00\x01",
	} {
		t.Run(name, func(t *testing.T) {
			s := startTLS(t, newReading(), ServerOptions{MaxConnections: 4})
			silent := make([]net.Conn, 4)
			for i := range silent {
				silent[i] = dial(t, s.addr, text)
			}
			for _, c := range silent {
				expect.Equal(t, answerOn(t, s.dial(t, oneGet)), "200 ")
				untilClosed(c)
			}
		})
	}
}

func TestAStopUnderTLSFinishesWhatIsUnderWay(t *testing.T) {
	h := newReading()
	s := startTLS(t, NewEdge(Options{}).Wrap(func(w http.ResponseWriter, r *http.Request) error {
		h.ServeHTTP(w, r)
		return nil
	}), ServerOptions{})
	c := s.dial(t, oneWait)
	s.working(1)
	s.stopped()
	close(h.leave)
	expect.Equal(t, answerOn(t, c), "200 body, the last")
	if err := <-s.done; err != nil {
		t.Errorf("the stop returned %v", err)
	}
}
