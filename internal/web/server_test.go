package web

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
)

// started is a server under test.
type started struct {
	addr  string
	stop  context.CancelFunc
	done  <-chan error
	slots *slots
}

// stopped ends the server's context and waits until the stop has begun.
func (s started) stopped() {
	s.stop()
	for !s.slots.stopping.Load() {
		runtime.Gosched()
	}
}

// working waits until n requests have arrived to their end.
func (s started) working(n int) {
	for s.slots.working() != n {
		runtime.Gosched()
	}
}

func start(t *testing.T, h http.Handler, o ServerOptions) started {
	t.Helper()
	return startFor(t, h, o, StopGrace+o.Longer)
}

// startFor is start of a server with a grace of its own.
func startFor(t *testing.T, h http.Handler, o ServerOptions, grace time.Duration) started {
	t.Helper()
	ln := must.Get(Listen("127.0.0.1:0"))(t)
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	done := make(chan error, 1)
	capped := capConnections(ln, o)
	go func() { done <- serve(ctx, capped, h, o, grace) }()
	return started{addr: ln.Addr().String(), stop: stop, done: done, slots: capped.slots}
}

func TestAStopFinishesRequestsInFlight(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	h := NewEdge(Options{}).Wrap(func(w http.ResponseWriter, r *http.Request) error {
		close(entered)
		<-leave
		if err := r.Context().Err(); err != nil {
			return err
		}
		return OK(w, r, "data", "x")
	})
	s := start(t, h, ServerOptions{})
	answers := make(chan string, 1)
	go func() {
		res, err := http.Get("http://" + s.addr)
		if err != nil {
			answers <- err.Error()
			return
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		answers <- fmt.Sprint(string(b), err)
	}()
	<-entered
	s.stopped()
	close(leave)
	expect.Equalf(t, <-answers, success+"<nil>", "the request in flight")
	if err := <-s.done; err != nil {
		t.Errorf("a clean stop returned %v", err)
	}
}

func TestAnAnswerWithoutAnEndLearnsOfAStop(t *testing.T) {
	t.Parallel()
	s := start(t, NewEdge(Options{}).Wrap(func(w http.ResponseWriter, _ *http.Request) error {
		w.WriteHeader(http.StatusOK)
		expect.NoError(t, http.NewResponseController(w).Flush())
		<-Stopping(w)
		return nil
	}), ServerOptions{})
	res := must.Get(http.Get("http://" + s.addr))(t)
	defer res.Body.Close()
	s.stopped()
	if _, err := io.ReadAll(res.Body); err != nil {
		t.Error(err)
	}
}

func TestAStopBreaksOffWhatDoesNotEnd(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	defer close(leave)
	s := startFor(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(entered)
		<-leave
	}), ServerOptions{}, time.Millisecond)
	failed := make(chan error, 1)
	go func() {
		res, err := http.Get("http://" + s.addr)
		if err == nil {
			_ = res.Body.Close()
		}
		failed <- err
	}()
	<-entered
	s.stop()
	if err := <-s.done; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if <-failed == nil {
		t.Error("the request was answered")
	}
}

func TestServeReturnsWhenItsListenerBreaks(t *testing.T) {
	ln := must.Get(Listen("127.0.0.1:0"))(t)
	_ = ln.Close()
	if err := Serve(context.Background(), ln, http.NotFoundHandler(), ServerOptions{}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestWhatTheServerAllows(t *testing.T) {
	srv := newServer(nil, ServerOptions{})
	if srv.ReadHeaderTimeout != 5*time.Second || srv.ReadTimeout != 10*time.Second || srv.WriteTimeout != 15*time.Second ||
		srv.IdleTimeout != 120*time.Second || srv.MaxHeaderBytes != 16<<10 {
		t.Error("a limit is missing")
	}
	if srv := newServer(nil, ServerOptions{IdleTimeout: time.Hour, Longer: time.Second}); srv.IdleTimeout != time.Hour {
		t.Errorf("idle connections are kept for %s", srv.IdleTimeout)
	}
}

// raw sends text over a connection of its own and returns the answer's status line, header and body.
func raw(t *testing.T, addr, text string) (*http.Response, string) {
	t.Helper()
	c := must.Get(net.Dial("tcp", addr))(t)
	defer c.Close()
	must.Get(io.WriteString(c, text))(t)
	method, _, _ := strings.Cut(text, " ")
	res := must.Get(http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method}))(t)
	defer res.Body.Close()
	return res, bodyOf(t, res)
}

func TestRequestsAsTheyComeOverTheWire(t *testing.T) {
	s := start(t, testFrontEnd(Options{}), ServerOptions{})
	const host = " HTTP/1.1\r\nHost: store.example\r\n"
	tests := []struct {
		name, text string
		status     int
		body       string
	}{
		{"GET", "GET /api/items/all" + host + "\r\n", 200, `{"status":"success","data":"items"}`},
		{"OPTIONS on everything", "OPTIONS *" + host + "\r\n", 204, ""},
		{"TRACE", "TRACE /api/items/all" + host + "\r\n", 405, `{"status":"error","msg":"Method not allowed"}`},
		{"CONNECT", "CONNECT other.example:443 HTTP/1.1\r\nHost: other.example:443\r\n\r\n", 405, `{"status":"error","msg":"Method not allowed"}`},
		{"an absolute target without a path", "GET http://store.example" + host + "\r\n", 200, `{"status":"success","data":"root"}`},
		{"a target of slashes", "GET //api//items/all/" + host + "\r\n", 200, `{"status":"success","data":"items"}`},
		{"a target that climbs", "GET /api/../../items/all" + host + "\r\n", 404, `{"status":"error","msg":"Not found"}`},
		{"HTTP/1.0", "GET /api/items/all HTTP/1.0\r\n\r\n", 200, `{"status":"success","data":"items"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res, body := raw(t, s.addr, tt.text)
			if res.StatusCode != tt.status || body != tt.body {
				t.Errorf("%d %s", res.StatusCode, body)
			}
		})
	}
	s.stop()
	expect.NoError(t, <-s.done)
}

func TestWhatStrangersProvokeIsForDebugging(t *testing.T) {
	out, log := logged() // from INFO on
	c := connectionLog{log}
	for line, shown := range map[string]bool{
		"http: TLS handshake error from 1.2.3.4: EOF\n":                       false,
		"timeout waiting for PING response\n":                                 false,
		"timeout waiting for SETTINGS frames from 1.2.3.4:5\n":                false,
		"http2: server: error reading preface from client 1.2.3.4:5: EOF\n":   false,
		"http2: panic serving 1.2.3.4:5: runtime error: index out of range\n": true,
		"http: Accept error: too many open files; oops\n":                     true,
	} {
		out.Reset()
		if n, err := c.Write([]byte(line)); n != len(line) || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		if (out.Len() > 0) != shown {
			t.Errorf("%q logged: %s", line, out)
		}
	}
	if n, err := (connectionLog{}).Write([]byte("x")); n != 1 || err != nil {
		t.Errorf("without a log: %d, %v", n, err)
	}
}

func TestHealth(t *testing.T) {
	e := NewEdge(Options{})
	var broken error
	mux := http.NewServeMux()
	mux.Handle("GET /healthz", e.Wrap(Healthz()))
	mux.Handle("GET /readyz", e.Wrap(Readyz(func(ctx context.Context) error {
		if _, limited := ctx.Deadline(); !limited {
			t.Error("the check may take for ever")
		}
		return broken
	})))
	handler := e.Handler(mux)
	check := func(path string, status int, body string) {
		t.Helper()
		res := serveOne(t, handler, "GET", path)
		if got := bodyOf(t, res); res.StatusCode != status || got != body {
			t.Errorf("%s: %d %s", path, res.StatusCode, got)
		}
	}
	check("/healthz", 200, `{"status":"success"}`)
	check("/readyz", 200, `{"status":"success"}`)
	broken = fault.Unavailable(countersign.CodeMigrationFailed, "/var/lib/shop/backups")
	check("/readyz", 503, `{"status":"error","msg":"The database can't be migrated to this version; the log of the server says why"}`)
	broken = errors.New("dial tcp 10.0.0.7: connection refused")
	check("/healthz", 200, `{"status":"success"}`)
	check("/readyz", 503, `{"status":"error","msg":"Service unavailable"}`)
	if res := serveOne(t, handler, "GET", "/readyz"); res.Header.Get("Retry-After") != "5" {
		t.Error("no Retry-After")
	}
}
