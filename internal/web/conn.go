package web

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync/atomic"
	"time"
)

// conn is an accepted connection that has a slot. Unlike netutil.LimitListener's, it lets net/http close only the
// sending side. Otherwise a client whose request is refused early sees a reset instead of the response.
type conn struct {
	*lazyDeadlineConn
	tcp   *net.TCPConn // nil for another sort of connection
	peer  netip.Addr
	slots *slots
	// bodies shapes what net/http itself answers.
	bodies errorBodies
	// begun is set when bytes of a request have arrived since the silence began.
	begun atomic.Bool
	// handled is set from the beginning of a handler to the end of its response, which may contain anything.
	handled atomic.Bool
	// late is set while the read deadline has passed. Reading was given up, but the client may be there.
	late atomic.Bool
	// request and body are those of a request with a body, as the handler sees them.
	request http.Request
	body    watchedBody

	// over is closed when HTTP/2 on the connection has ended; nil for HTTP/1.
	over chan struct{}

	// waits reports that a write made the connection silent, because its client does not read.
	waits bool

	// taken is when the client took a part of a response of HTTP/2 last, since the Unix epoch in nanoseconds.
	taken atomic.Int64
	// delivery is a large response of HTTP/1.
	delivery delivery

	// slots.mu guards what follows.
	holder       *holder // nil where no quarter applies
	open, silent bool
	stuck        bool   // silent because its client does not read
	turn         uint64 // the order in which silences began
	// streams are the requests of HTTP/2 whose handler runs, atWork those that are at work.
	streams, atWork int
	// unread are the requests of HTTP/2 whose responses are not read.
	unread int
	// ended reports that a request of HTTP/2 may not have been sent to its end, although its handler has returned.
	ended bool
	// sending runs since the handler of the last stream has returned; nil before.
	sending          *time.Timer
	inSlots, inOwner links[conn]
}

func newConn(c net.Conn, s *slots) *conn {
	tcp, _ := c.(*net.TCPConn)
	own := &conn{lazyDeadlineConn: newLazyDeadlineConn(c), tcp: tcp, slots: s}
	own.delivery.conn = own
	own.lazyDeadlineConn.unread = func() { own.waits = own.waits || s.stick(own) }
	if addr, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		own.peer = plain(addr.AddrPort().Addr())
	}
	return own
}

// Read is that of [net.Conn].
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.lazyDeadlineConn.Read(b)
	if n > 0 && !c.begun.Load() {
		c.begun.Store(true)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.late.Store(true)
	} else if n > 0 && c.late.Load() {
		c.late.Store(false)
	}
	return n, err
}

// Write is that of [net.Conn].
func (c *conn) Write(b []byte) (int, error) {
	n, err := c.writeThrough(b)
	if c.waits {
		c.waits = false
		c.slots.resume(c)
	}
	return n, err
}

// writeThrough writes b, and a refusal of net/http in the form of the front end.
func (c *conn) writeThrough(b []byte) (int, error) {
	if c.handled.Load() {
		return c.lazyDeadlineConn.Write(b)
	}
	line, refused := refusalOf(b)
	if line == nil {
		return c.lazyDeadlineConn.Write(b)
	}
	if _, err := c.lazyDeadlineConn.Write(c.bodies.respond(line, refused)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// lingering is how long the rest of a refused request is read at most.
const lingering = 5 * time.Second

// CloseWrite closes the sending side. net/http calls it after a response to a request that has not arrived to its end, and
// closes the connection soon after. Until then the rest is read: a client that is still sending would see a reset instead of
// the response, as nginx did on a busy machine.
func (c *conn) CloseWrite() error {
	if c.tcp == nil {
		return nil
	}
	if err := c.tcp.CloseWrite(); err != nil {
		return err
	}
	if err := c.SetReadDeadline(time.Now().Add(lingering)); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, c.lazyDeadlineConn)
	return err
}

// Close closes the connection and frees its slot.
func (c *conn) Close() error {
	defer c.slots.release(c)
	return c.Conn.Close()
}

// discard closes the connection, and what the client does not read is not kept.
func (c *conn) discard() {
	if c.tcp != nil {
		_ = c.tcp.SetLinger(0)
	}
	_ = c.Close() // there is nobody to tell
}

// A watchedBody notes when a request has arrived to its end.
type watchedBody struct {
	io.ReadCloser
	of *conn
}

// Read is that of [io.Reader].
func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.of.slots.busy(b.of)
	}
	return n, err
}

// watched creates a handler under which a connection is silent until its request has arrived to the end.
func watched(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := connOf(r)
		if c == nil {
			h.ServeHTTP(w, r)
			return
		}
		if c.slots.stopping.Load() {
			w.Header()["Connection"] = valueClose
		}
		if r.ProtoMajor == 2 {
			c.serveStream(h, w, r)
			return
		}
		c.handled.Store(true)
		if r.Body == nil || r.Body == http.NoBody {
			c.slots.busy(c)
			h.ServeHTTP(w, r)
			return
		}
		// net/http looks at the body of its own request to see whether it was read.
		c.request = *r
		c.body = watchedBody{r.Body, c}
		c.request.Body = &c.body
		h.ServeHTTP(w, &c.request)
		r.MultipartForm = c.request.MultipartForm // net/http removes its files
		c.request, c.body = http.Request{}, watchedBody{}
	})
}

// connState follows the connections of an http.Server.
func connState(c net.Conn, state http.ConnState) {
	if state != http.StateIdle {
		return
	}
	if own := ownConn(c); own != nil {
		own.handled.Store(false)
		own.slots.idle(own)
	}
}

var valueClose = []string{"close"}
