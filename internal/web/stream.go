package web

import (
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign"
)

const (
	// unreadAfter is how long a client takes nothing of a response before it counts as one that does not read.
	unreadAfter = 2 * time.Second
	// streamChunk is how many bytes a write passes on at once: a client that reads takes them within unreadAfter.
	streamChunk = 16 << 10
	// writeBuffer is how many bytes net/http may keep before it sends them.
	writeBuffer = 4 << 10
)

// A stream is a request of HTTP/2, many of which share a connection. It is at work from the moment when it has arrived to
// its end until it is answered, but not while its client does not read. The connection is silent while none is at work.
type stream struct {
	http.ResponseWriter
	conn    *conn
	request http.Request
	body    streamBody
	timer   *time.Timer // nil before the first write
	// delivery is its response; written reports that it has a body.
	delivery delivery
	written  bool
	// resetting guards waits, which reports that a read or a write is under way, and broken, which lets none begin.
	resetting     sync.Mutex
	waits, broken bool
	// overdue is when a write under way has taken so long that the client does not read: nanoseconds
	// since began, 0 while nothing is written. A timer may run late, while the next write is under way.
	overdue atomic.Int64
	began   time.Time

	// slots.mu guards what follows.
	atWork bool
	stuck  bool // it was at work, and its client does not read
}

// serveStream serves a request of HTTP/2.
func (c *conn) serveStream(h http.Handler, w http.ResponseWriter, r *http.Request) {
	t := &stream{ResponseWriter: w, conn: c, began: time.Now()}
	t.delivery.conn, t.delivery.stream = c, t
	d := c.slots.deliveries
	if many, unread := c.slots.hasMany(c); unread || !d.add(&t.delivery, load{requests: 1}, !many) {
		refuseStream(w)
		return
	}
	defer d.subtract(&t.delivery, load{requests: 1})
	c.slots.beginStream(c)
	defer c.slots.endStream(t)
	if r.ContentLength == 0 {
		c.slots.work(t)
		h.ServeHTTP(t, r)
		t.finish()
		return
	}
	t.request, t.body = *r, streamBody{r.Body, t}
	t.request.Body = &t.body
	h.ServeHTTP(t, &t.request)
	r.MultipartForm = t.request.MultipartForm // net/http removes its files
	t.finish()
}

// Unwrap returns the wrapped writer for http.ResponseController.
func (t *stream) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// Write is that of [http.ResponseWriter].
func (t *stream) Write(b []byte) (int, error) {
	t.written = t.written || len(b) > 0
	if len(b) > smallWrite {
		d, bytes := t.conn.slots.deliveries, load{bytes: min(len(b), maxCounted)}
		if !d.add(&t.delivery, bytes, true) {
			return 0, errBrokenOff
		}
		defer d.subtract(&t.delivery, bytes)
	}
	for done := 0; ; {
		var n int
		err := t.await(func() (err error) {
			n, err = t.ResponseWriter.Write(b[done:min(len(b), done+streamChunk)])
			return err
		})
		if n >= writeBuffer {
			t.noteTaken()
		}
		if done += n; err != nil || done == len(b) {
			return done, err
		}
	}
}

// FlushError sends what was written; http.ResponseController looks for it.
func (t *stream) FlushError() error {
	err := t.await(http.NewResponseController(t.ResponseWriter).Flush)
	if err == nil && t.written {
		t.noteTaken()
	}
	return err
}

// noteTaken notes that the client has taken a part of the response.
func (t *stream) noteTaken() { t.conn.taken.Store(time.Now().UnixNano()) }

// await calls send. While that takes long, the client does not read.
func (t *stream) await(send func() error) error {
	t.overdue.Store(int64(time.Since(t.began) + unreadAfter))
	if t.timer == nil {
		t.timer = time.AfterFunc(unreadAfter, func() { t.conn.slots.stickStream(t) })
	} else {
		t.timer.Reset(unreadAfter)
	}
	err := t.wait(send)
	t.overdue.Store(0)
	if !t.timer.Stop() {
		t.conn.slots.goOn(t)
	}
	return err
}

// wait calls a read or a write, which waits for the client. The stream may be broken off meanwhile.
func (t *stream) wait(call func() error) error {
	return t.conn.slots.deliveries.wait(&t.delivery, func() error {
		if !t.setWaits(true) {
			return errBrokenOff
		}
		defer t.setWaits(false)
		return call()
	})
}

// setWaits notes that a read or a write begins or has ended. It returns false when none may begin.
func (t *stream) setWaits(is bool) bool {
	t.resetting.Lock()
	defer t.resetting.Unlock()
	t.waits = is && !t.broken
	return !t.broken
}

// reset ends the stream, and the read or write that is under way fails.
func (t *stream) reset() {
	t.resetting.Lock()
	defer t.resetting.Unlock()
	t.broken = true
	if t.waits {
		_ = http.NewResponseController(t.ResponseWriter).SetWriteDeadline(time.Unix(1, 0)) // it can
	}
}

// finish sends the end of a response that shares its connection, because net/http does not say when it has. A handler
// may have overlooked that its response was broken off.
func (t *stream) finish() {
	if t.written && t.conn.slots.isShared(t.conn) && t.FlushError() != nil {
		panic(http.ErrAbortHandler)
	}
}

// refuseStream answers without a body, which an unread one could not hold up.
func refuseStream(w http.ResponseWriter) {
	h := w.Header()
	h["X-Error-Code"] = []string{countersign.CodeUnavailable}
	h["Cache-Control"], h["Retry-After"] = valueNoStore, []string{wholeSeconds(retryDefault)}
	w.WriteHeader(http.StatusServiceUnavailable)
}

// isOverdue reports whether a write is under way that takes too long.
func (t *stream) isOverdue() bool {
	at := t.overdue.Load()
	return at > 0 && int64(time.Since(t.began)) >= at
}

// A streamBody notes when a request has arrived to its end. While the client sends nothing, it makes room for others.
type streamBody struct {
	io.ReadCloser
	of *stream
}

// Read is that of [io.Reader].
func (b *streamBody) Read(p []byte) (n int, err error) {
	err = b.of.wait(func() (err error) {
		n, err = b.ReadCloser.Read(p)
		return err
	})
	if err == io.EOF {
		b.of.conn.slots.work(b.of)
	}
	return n, err
}
