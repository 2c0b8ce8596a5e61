package web

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/countersign/countersign/internal/group"
)

const (
	// maxStreams is how many requests of a connection are served at once. Each takes memory before it can be refused.
	maxStreams = 32
	// streamBuffer and connBuffer are how many bytes of bodies wait at most to be read.
	streamBuffer = 256 << 10
	connBuffer   = 1 << 20
	// pingAfter is how long a connection is without a frame before the server checks that its client is there.
	pingAfter   = 30 * time.Second
	pingTimeout = 15 * time.Second
	// handshakeGrace is how long a stop waits for handshakes that had begun.
	handshakeGrace = 3 * acceptGrace
)

// http2 serves the connections of a server that have chosen HTTP/2. It has a server of its own, because clients learn of a
// stop by its Shutdown alone (GOAWAY), which would break off requests of HTTP/1 that are on their way.
type http2 struct {
	server *http.Server
	slots  *slots
	conns  chan net.Conn
	addr   net.Addr
	once   sync.Once
	// over is closed when no more connections are served.
	over chan struct{}
}

// newHTTP2 creates the server beside front, to which it adds what passes the connections on.
func newHTTP2(front *http.Server, capped *cappedListener, o ServerOptions) *http2 {
	h := &http2{
		server: newServer(front.Handler, o), slots: capped.slots, conns: make(chan net.Conn), addr: capped.Addr(), over: make(chan struct{}),
	}
	h.server.HTTP2 = &http.HTTP2Config{
		MaxConcurrentStreams: maxStreams, MaxReceiveBufferPerStream: streamBuffer, MaxReceiveBufferPerConnection: connBuffer,
		SendPingTimeout: pingAfter, PingTimeout: pingTimeout, WriteByteTimeout: h.server.WriteTimeout,
	}
	h.server.ConnState = func(c net.Conn, state http.ConnState) {
		connState(c, state)
		if own := ownConn(c); own != nil && state == http.StateClosed {
			close(own.over)
		}
	}
	front.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){"h2": h.take}
	front.TLSConfig = o.TLS.Clone()
	front.TLSConfig.GetConfigForClient = h.choose(o.TLS)
	return h
}

// start serves connections until stop. The channel is closed at the end.
func (h *http2) start(log *slog.Logger) <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = group.Contain(log, "http/2 server", func() error { return h.server.Serve(h) }) // it ends by stop alone
	}()
	return ended
}

// stop closes all connections.
func (h *http2) stop() {
	_ = h.Close()
	_ = h.server.Close()
}

// take serves a connection that has ended its handshake until it is closed.
func (h *http2) take(_ *http.Server, c *tls.Conn, _ http.Handler) {
	own := ownConn(c)
	if own == nil {
		return
	}
	own.over = make(chan struct{})
	select {
	case h.conns <- c:
		<-own.over
	case <-h.over:
	}
}

// choose leaves HTTP/2 out of handshakes that begin after a stop, when clients are told to go elsewhere.
func (h *http2) choose(config *tls.Config) func(*tls.ClientHelloInfo) (*tls.Config, error) {
	last := config.Clone()
	last.NextProtos = append(slices.Clone(config.NextProtos), "http/1.1")
	return func(*tls.ClientHelloInfo) (*tls.Config, error) {
		if h.slots.stopping.Load() {
			return last, nil
		}
		return nil, nil
	}
}

// announceStop tells the clients of all connections to send no more requests.
func (h *http2) announceStop() {
	ended, cancel := context.WithCancel(context.Background())
	cancel() // nobody waits here: the slots know when the connections are closed
	_ = h.server.Shutdown(ended)
}

// Accept waits for a connection.
func (h *http2) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.over:
		return nil, net.ErrClosed
	}
}

// Close is that of [net.Listener].
func (h *http2) Close() error {
	h.once.Do(func() { close(h.over) })
	return nil
}

// Addr is that of [net.Listener].
func (h *http2) Addr() net.Addr { return h.addr }
