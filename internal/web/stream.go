package web

import (
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

const (
	// unreadAfter is how long a client takes nothing of a response before it counts as one that does not read.
	unreadAfter = 2 * time.Second
	// streamChunk is how many bytes a write passes on at once: a client that reads takes them within unreadAfter.
	streamChunk = 16 << 10
)

// A stream is a request of HTTP/2, many of which share a connection. It is at work from the moment when it has arrived to
// its end until it is answered, but not while its client does not read. The connection is silent while none is at work.
type stream struct {
	http.ResponseWriter
	conn    *conn
	request http.Request
	body    streamBody
	timer   *time.Timer // nil before the first write
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
	c.slots.beginStream(c)
	defer c.slots.endStream(t)
	if r.ContentLength == 0 {
		c.slots.work(t)
		h.ServeHTTP(t, r)
		return
	}
	t.request, t.body = *r, streamBody{r.Body, t}
	t.request.Body = &t.body
	h.ServeHTTP(t, &t.request)
	r.MultipartForm = t.request.MultipartForm // net/http removes its files
}

// Unwrap returns the wrapped writer for http.ResponseController.
func (t *stream) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// Write is that of [http.ResponseWriter].
func (t *stream) Write(b []byte) (int, error) {
	for done := 0; ; {
		var n int
		err := t.await(func() (err error) {
			n, err = t.ResponseWriter.Write(b[done:min(len(b), done+streamChunk)])
			return err
		})
		if done += n; err != nil || done == len(b) {
			return done, err
		}
	}
}

// FlushError sends what was written; http.ResponseController looks for it.
func (t *stream) FlushError() error {
	return t.await(http.NewResponseController(t.ResponseWriter).Flush)
}

// await calls send. While that takes long, the client does not read.
func (t *stream) await(send func() error) error {
	t.overdue.Store(int64(time.Since(t.began) + unreadAfter))
	if t.timer == nil {
		t.timer = time.AfterFunc(unreadAfter, func() { t.conn.slots.stickStream(t) })
	} else {
		t.timer.Reset(unreadAfter)
	}
	err := send()
	t.overdue.Store(0)
	if !t.timer.Stop() {
		t.conn.slots.goOn(t)
	}
	return err
}

// isOverdue reports whether a write is under way that takes too long.
func (t *stream) isOverdue() bool {
	at := t.overdue.Load()
	return at > 0 && int64(time.Since(t.began)) >= at
}

// A streamBody notes when a request has arrived to its end.
type streamBody struct {
	io.ReadCloser
	of *stream
}

// Read is that of [io.Reader].
func (b *streamBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.of.conn.slots.work(b.of)
	}
	return n, err
}
