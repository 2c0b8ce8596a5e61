package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/countersign/countersign/internal/fault"
)

// acceptGrace is how long a stop goes on to accept connections whose handshake had begun.
const acceptGrace = 100 * time.Millisecond

// Listen opens a TCP listener. An address in use is a [countersign.Error] of kind Conflict.
func Listen(addr string) (net.Listener, error) {
	var config net.ListenConfig
	config.SetMultipathTCP(false) // the kernel drops handshakes at a stop for plain TCP alone
	ln, err := config.Listen(context.Background(), "tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fault.WithCause(fault.Conflict("address_in_use", fmt.Sprintf("%s is in use by another program", addr)), err)
	}
	if err != nil {
		return nil, fmt.Errorf("web: listen on %s: %w", addr, err)
	}
	return ln, nil
}

// A cappedListener gives each connection one of its slots. When they run out it closes the connection that has been
// silent longest; only while requests are under way on all of them does a new one wait.
type cappedListener struct {
	net.Listener
	slots  *slots
	bodies errorBodies
}

func capConnections(ln net.Listener, o ServerOptions) *cappedListener {
	limit := cmp.Or(o.MaxConnections, connectionLimit(descriptorLimit()))
	closed := &evictions{text: "all connections are in use; closing silent ones for new ones", log: o.Log, limit: limit}
	broken := &evictions{text: "requests were broken off whose clients neither send nor read", log: o.Log, limit: maxRequests}
	l := &cappedListener{Listener: ln, slots: newSlots(limit, o.TrustedProxies, closed.note, broken.note), bodies: o.ErrorBody}
	if o.Metrics != nil {
		closed.count, broken.count = o.Metrics.evictions, o.Metrics.broken
		o.Metrics.watch(l.slots)
	}
	return l
}

// Accept waits for a connection, then for a slot.
func (l *cappedListener) Accept() (net.Conn, error) {
	for {
		accepted, err := l.Listener.Accept()
		if errors.Is(err, os.ErrDeadlineExceeded) && l.slots.stopping.Load() {
			_ = l.Listener.Close() // the stop is over, whatever closing says
			return nil, net.ErrClosed
		}
		if err != nil {
			return nil, err
		}
		c := newConn(accepted, l.slots)
		c.bodies = l.bodies
		if l.slots.take(c) {
			return c, nil
		}
		_ = accepted.Close() // there is nobody to tell
	}
}

// stop accepts the connections that are being opened, and then no more. Requests are told to be the last of their
// connections from now on.
func (l *cappedListener) stop() {
	l.slots.stop()
	refuseHandshakes(l.Listener)
	d, ok := l.Listener.(interface{ SetDeadline(time.Time) error })
	if !ok || d.SetDeadline(time.Now().Add(acceptGrace)) != nil {
		_ = l.Listener.Close()
	}
}

// Close closes the listener and ends an Accept that waits for a slot.
func (l *cappedListener) Close() error {
	l.slots.close()
	return l.Listener.Close()
}
