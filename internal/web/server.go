package web

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/group"
)

// What the server allows a client: enough for a slow telephone, too little to hold the server up.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 10 * time.Second
	writeTimeout      = 15 * time.Second
	// idleTimeout is longer than the 60 s of usual balancers: who closes first must be the side that sends the requests.
	idleTimeout    = 120 * time.Second
	maxHeaderBytes = 16 << 10
	maxConnections = 4096
	// spareDescriptors are those of the process that connections leave for databases, logs and metrics.
	spareDescriptors = 64
	// StopGrace is how long a stop waits for requests in flight.
	StopGrace = 10 * time.Second
)

// ServerOptions configures [Serve]. The zero value works.
type ServerOptions struct {
	// Log receives what net/http has to say about connections, and once a minute that they ran out.
	Log *slog.Logger
	// Metrics counts the connections that were closed when they ran out.
	Metrics *Metrics
	// TrustedProxies are the networks that may hold more than a quarter of the connections.
	TrustedProxies []netip.Prefix
	// ErrorBody shapes what net/http itself refuses, as that of [Options] does, without a request. Inside of TLS only
	// net/http sees it, so that it stays a line of text.
	ErrorBody func(*http.Request, *countersign.Error) []byte
	// TLS makes the server speak TLS; nil is plain HTTP.
	TLS *tls.Config
	// MaxConnections is how many connections are open at most; 0 means 4,096, or as many as the process's descriptors
	// allow when they are fewer than 4,096 and 64.
	MaxConnections int
	// IdleTimeout is how long a connection without a request is kept; 0 means two minutes.
	IdleTimeout time.Duration
	// Longer is added to what a client is allowed for its request and its answer, also at a stop, where a slow machine is
	// no reason to refuse it.
	Longer time.Duration
}

// connectionLimit is how many connections a server may have when nothing else is said.
func connectionLimit(descriptors int) int {
	return max(1, min(maxConnections, descriptors-spareDescriptors))
}

// Serve answers requests on ln, which it closes, until ctx ends. When connections run out, the one that has been
// without a complete request longest is closed for the next; an address that holds a quarter of them loses its own, or
// gets no more. One whose client does not read the response counts as one without a request.
//
// A stop accepts no more, and finishes the requests in flight. Each response is then the last of its connection, and
// says so; connections without a request get a second to send one. Serve returns nil then. Requests that take longer
// than the grace are broken off, which is an error.
func Serve(ctx context.Context, ln net.Listener, h http.Handler, o ServerOptions) error {
	return serve(ctx, capConnections(ln, o), h, o, StopGrace+o.Longer)
}

func serve(ctx context.Context, capped *cappedListener, h http.Handler, o ServerOptions, grace time.Duration) error {
	srv := newServer(watched(h), o)
	listen, announceStop := func() error { return srv.Serve(capped) }, func() {}
	if o.TLS != nil {
		beside := newHTTP2(srv, capped, o)
		ended := beside.start(o.Log)
		defer func() {
			beside.stop()
			<-ended
		}()
		listen, announceStop = func() error { return srv.ServeTLS(capped, "", "") }, beside.announceStop
	}
	done := make(chan error, 1)
	go func() {
		done <- group.Contain(o.Log, "http server", listen)
	}()
	select {
	case err := <-done:
		return fmt.Errorf("web: serve: %w", err)
	case <-ctx.Done():
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	capped.stop()
	announced := time.AfterFunc(handshakeGrace, announceStop)
	defer announced.Stop()
	broken := 0
	select {
	case <-capped.slots.settled:
	case <-late.C:
		broken = capped.slots.working()
	}
	_ = srv.Close() // nothing is left, or it is broken off: what closing says adds nothing
	<-done
	if broken > 0 {
		return fmt.Errorf("web: %d requests were still running %s after the stop: %w", broken, grace, context.DeadlineExceeded)
	}
	return nil
}

func newServer(h http.Handler, o ServerOptions) *http.Server {
	return &http.Server{
		Handler:                      h,
		ReadHeaderTimeout:            readHeaderTimeout + o.Longer,
		ReadTimeout:                  readTimeout + o.Longer,
		WriteTimeout:                 writeTimeout + o.Longer,
		IdleTimeout:                  cmp.Or(o.IdleTimeout, idleTimeout),
		MaxHeaderBytes:               maxHeaderBytes,
		DisableGeneralOptionsHandler: true, // the edge answers OPTIONS *
		ConnContext:                  withConn,
		ConnState:                    connState,
		ErrorLog:                     log.New(connectionLog{o.Log}, "", 0),
	}
}

// connectionLog hands what net/http logs on to slog. What any stranger can provoke is for debugging only.
type connectionLog struct{ log *slog.Logger }

var provoked = [][]byte{
	[]byte("http: TLS handshake error"),
	[]byte("http: URL query contains semicolon"),
	[]byte("http2: "),
	[]byte("timeout waiting for "), // a frame of HTTP/2
}

// panicked is how a message of HTTP/2 begins that nobody else can provoke.
var panicked = []byte("http2: panic")

func (c connectionLog) Write(line []byte) (int, error) {
	if c.log == nil {
		return len(line), nil
	}
	level := slog.LevelWarn
	for _, prefix := range provoked {
		if bytes.HasPrefix(line, prefix) && !bytes.HasPrefix(line, panicked) {
			level = slog.LevelDebug
		}
	}
	c.log.Log(context.Background(), level, "http server", "text", string(bytes.TrimSpace(line)))
	return len(line), nil
}
