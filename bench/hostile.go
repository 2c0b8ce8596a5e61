package main

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// The crowd of connections that send no complete request. They come from hostileAddresses addresses, 127.0.0.2 and
// those that follow. What the server closes is opened again, all of them together at most hostilePace times a second:
// without a bound the harness would measure how fast this machine opens connections.
const (
	hostileConnections = 9900
	hostileAddresses   = 63
	hostilePace        = 500
	// dripEvery is how often a slow connection sends a byte.
	dripEvery = 5 * time.Second
)

// A hostileKind is one way to hold a connection without a complete request.
type hostileKind struct {
	opening []byte // sent at once
	drip    []byte // sent every few seconds; nil is nothing
	answer  bool   // the opening is a request, whose answer is read
}

// hostileKinds take turns.
func hostileKinds(good request) []hostileKind {
	const head = "POST /api/purchases/validation HTTP/1.1\r\nHost: localhost\r\n"
	return []hostileKind{
		{},
		{opening: []byte(head + "X: "), drip: []byte("x")},
		{opening: []byte(head + "Content-Length: 1000\r\n\r\n"), drip: []byte("x")},
		{opening: good.bytes, answer: true},
	}
}

// A crowd is the hostile connections to one server.
type crowd struct {
	host  string
	kinds []hostileKind
	pace  chan struct{}
	end   context.CancelFunc
	all   sync.WaitGroup

	tried, opened, closed atomic.Int64
}

// gather opens all connections once, as fast as they are accepted, and goes on to open again what is closed.
func gather(ctx context.Context, host string, kinds []hostileKind) (*crowd, error) {
	ctx, end := context.WithCancel(ctx)
	c := &crowd{host: host, kinds: kinds, pace: make(chan struct{}), end: end}
	var first sync.WaitGroup
	first.Add(hostileConnections)
	for i := range hostileConnections {
		c.all.Go(func() { c.hold(ctx, i, sync.OnceFunc(first.Done)) })
	}
	c.all.Go(func() { c.tick(ctx) })
	first.Wait()
	if c.opened.Load() < c.tried.Load()/2 {
		c.disperse()
		return nil, errors.New("most of the silent connections could not be opened")
	}
	return c, ctx.Err()
}

// disperse closes all connections.
func (c *crowd) disperse() {
	c.end()
	c.all.Wait()
}

// tick lets connections be opened again at the pace.
func (c *crowd) tick(ctx context.Context) {
	const step = 10 * time.Millisecond
	tick := time.NewTicker(step)
	defer tick.Stop()
	for ctx.Err() == nil {
		for range hostilePace * step / time.Second {
			select {
			case c.pace <- struct{}{}:
			default: // nobody waits
			}
		}
		<-tick.C
	}
}

// hold keeps one place of the crowd taken. tried is called when it was tried once.
func (c *crowd) hold(ctx context.Context, i int, tried func()) {
	defer tried()
	from := &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+i%hostileAddresses))}
	d := net.Dialer{LocalAddr: from, Timeout: 5 * time.Second}
	for ctx.Err() == nil {
		c.tried.Add(1)
		conn, err := d.DialContext(ctx, "tcp", c.host)
		if err == nil {
			c.opened.Add(1)
			c.keep(ctx, conn, c.kinds[i%len(c.kinds)], tried)
		}
		tried()
		select {
		case <-c.pace:
		case <-ctx.Done():
		}
	}
}

// keep holds a connection until the server closes it. It is reset at the end: closed ones would go on to hold ports.
func (c *crowd) keep(ctx context.Context, conn net.Conn, kind hostileKind, begun func()) {
	_ = conn.(*net.TCPConn).SetLinger(0)
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer func() { stop(); _ = conn.Close() }()
	if _, err := conn.Write(kind.opening); err != nil {
		return
	}
	if kind.answer {
		if _, _, err := readAnswer(bufio.NewReaderSize(conn, 2<<10), nil); err != nil {
			return
		}
	}
	begun()
	for one := make([]byte, 512); ; {
		if kind.drip != nil {
			_ = conn.SetReadDeadline(time.Now().Add(dripEvery))
		}
		_, err := conn.Read(one)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			_, err = conn.Write(kind.drip)
		}
		if err != nil {
			if ctx.Err() == nil {
				c.closed.Add(1)
			}
			return
		}
	}
}
