package web

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"

	"github.com/countersign/countersign"
)

// Listen opens a TCP listener. An address in use is a [countersign.Error] of kind Conflict.
func Listen(addr string) (net.Listener, error) {
	ln, err := net.Listen("tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, &countersign.Error{
			Kind: countersign.KindConflict, Code: "address_in_use", Cause: err,
			Message: fmt.Sprintf("%s is in use by another program; choose another address with --listen", addr),
		}
	}
	if err != nil {
		return nil, fmt.Errorf("web: listen on %s: %w", addr, err)
	}
	return ln, nil
}

// A cappedListener lets only so many connections be open at once; the others wait in the kernel's queue. Unlike
// netutil.LimitListener it lets net/http close the sending side alone: without
// that, a client whose request is refused half-way sees a reset instead of the answer.
type cappedListener struct {
	net.Listener
	slots  chan struct{}
	closed chan struct{}
	once   sync.Once
}

func capConnections(ln net.Listener, n int) *cappedListener {
	return &cappedListener{Listener: ln, slots: make(chan struct{}, n), closed: make(chan struct{})}
}

// Accept waits for a free slot, then for a connection.
func (l *cappedListener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		l.release()
		return nil, err
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		return &cappedTCP{patientConn: newPatientConn(tcp), tcp: tcp, release: sync.OnceFunc(l.release)}, nil
	}
	return &cappedConn{Conn: c, release: sync.OnceFunc(l.release)}, nil
}

// Close closes the listener and ends an Accept that waits for a slot.
func (l *cappedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

func (l *cappedListener) release() { <-l.slots }

type cappedTCP struct {
	*patientConn
	tcp     *net.TCPConn
	release func()
}

// CloseWrite closes the sending side; net/http looks for it.
func (c *cappedTCP) CloseWrite() error { return c.tcp.CloseWrite() }

// ReadFrom is that of [net.TCPConn], which sends a file without copying it. Only a file is read here: whatever else is
// read would be lost when the wait for the client begins anew.
func (c *cappedTCP) ReadFrom(r io.Reader) (int64, error) {
	if !isFile(r) {
		return io.Copy(struct{ io.Writer }{c}, r)
	}
	if err := c.write.beginOnce(); err != nil {
		return 0, err
	}
	defer c.write.end()
	return c.tcp.ReadFrom(r)
}

func isFile(r io.Reader) bool {
	if part, ok := r.(*io.LimitedReader); ok {
		r = part.R
	}
	_, ok := r.(syscall.Conn)
	return ok
}

func (c *cappedTCP) Close() error {
	defer c.release()
	return c.tcp.Close()
}

type cappedConn struct {
	net.Conn
	release func()
}

func (c *cappedConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}
