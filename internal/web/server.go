package web

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// What the server allows a client: enough for a slow telephone, too little to hold the server up.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 10 * time.Second
	writeTimeout      = 15 * time.Second
	idleTimeout       = 60 * time.Second
	maxHeaderBytes    = 16 << 10
	maxConnections    = 4096
	// stopGrace is how long a stop waits for requests in flight.
	stopGrace = 10 * time.Second
)

// ServerOptions says how [Serve] serves. The zero value works.
type ServerOptions struct {
	// Log receives what net/http has to say about connections.
	Log *slog.Logger
	// StopGrace is how long a stop waits for requests in flight; 0 means ten seconds.
	StopGrace time.Duration
	// Longer is added to what a client is allowed for its request and its answer,
	// where a slow machine is no reason to refuse it.
	Longer time.Duration
}

// Serve answers requests on ln, which it closes, until ctx ends. Then it accepts no more, finishes the requests in
// flight and returns nil. Requests that take longer than the grace are broken off, which is an error.
func Serve(ctx context.Context, ln net.Listener, h http.Handler, o ServerOptions) error {
	srv := newServer(h, o)
	var served error
	done := Go(o.Log, "http server", func() { served = srv.Serve(capConnections(ln, maxConnections)) })
	select {
	case panicked := <-done:
		return fmt.Errorf("web: serve: %w", firstError(panicked, served))
	case <-ctx.Done():
	}
	grace := o.StopGrace
	if grace == 0 {
		grace = stopGrace
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err := srv.Shutdown(stop)
	if err != nil {
		_ = srv.Close() // the reason is known; what closing says adds nothing
	}
	<-done
	if err != nil {
		return fmt.Errorf("web: requests were still running %s after the stop: %w", grace, err)
	}
	return nil
}

func newServer(h http.Handler, o ServerOptions) *http.Server {
	return &http.Server{
		Handler:                      h,
		ReadHeaderTimeout:            readHeaderTimeout + o.Longer,
		ReadTimeout:                  readTimeout + o.Longer,
		WriteTimeout:                 writeTimeout + o.Longer,
		IdleTimeout:                  idleTimeout,
		MaxHeaderBytes:               maxHeaderBytes,
		DisableGeneralOptionsHandler: true, // the edge answers OPTIONS *
		ConnContext:                  withPeer,
		ErrorLog:                     log.New(connectionLog{o.Log}, "", 0),
	}
}

// connectionLog hands what net/http logs on to slog. What any stranger can provoke is for debugging only.
type connectionLog struct{ log *slog.Logger }

var provoked = [][]byte{
	[]byte("http: TLS handshake error"),
	[]byte("http: URL query contains semicolon"),
	[]byte("http2: "),
}

func (c connectionLog) Write(line []byte) (int, error) {
	if c.log == nil {
		return len(line), nil
	}
	level := slog.LevelWarn
	for _, prefix := range provoked {
		if bytes.HasPrefix(line, prefix) {
			level = slog.LevelDebug
		}
	}
	c.log.Log(context.Background(), level, "http server", "text", string(bytes.TrimSpace(line)))
	return len(line), nil
}
