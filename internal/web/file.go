package web

import (
	"io"
	"net/http"
	"time"
)

// A file is sent in pieces, and the server waits this long for a client to take the next one: a
// large file takes longer than any other answer may.
const (
	pieceSize = 32 << 10
	pieceWait = 15 * time.Second
)

// PieceDeadlines returns a writer with a deadline of 15 seconds for each 32 KiB of a body. The
// server's own deadline is for the whole body.
func PieceDeadlines(w http.ResponseWriter) http.ResponseWriter { return pieceWriter{w} }

type pieceWriter struct{ http.ResponseWriter }

// Unwrap returns the wrapped writer for http.ResponseController.
func (p pieceWriter) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// WriteHeader sends the status. What the caller said of caching is about the content: nothing keeps an answer without it,
// such as 412 or 416.
func (p pieceWriter) WriteHeader(status int) {
	if status >= http.StatusBadRequest {
		p.Header().Set("Cache-Control", "no-store")
	}
	p.ResponseWriter.WriteHeader(status)
}

// Write sends bytes of the body.
func (p pieceWriter) Write(b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		_ = http.NewResponseController(p.ResponseWriter).SetWriteDeadline(time.Now().Add(pieceWait)) // a writer without deadlines has none
		var sent int
		sent, err = p.ResponseWriter.Write(b[n:min(len(b), n+pieceSize)])
		n += sent
	}
	return n, err
}

// ServeFile answers with a file, or with the ranges of it that a client asks for. The caller has set the
// headers that describe it, its type and its ETag among them.
func ServeFile(w http.ResponseWriter, r *http.Request, modified time.Time, content io.ReadSeeker) {
	http.ServeContent(PieceDeadlines(w), r, "", modified, content)
}

// ServeDownload is [ServeFile] for a file whose delivery is noted: begin is called before the first byte is sent, and not
// for a response without content, such as 304 or 416. If it fails, nothing is sent, and ServeDownload returns its error.
func ServeDownload(w http.ResponseWriter, r *http.Request, modified time.Time, content io.ReadSeeker, begin func() error) error {
	if r.Method == http.MethodHead {
		begin = func() error { return nil }
	}
	d := &downloadWriter{ResponseWriter: PieceDeadlines(w), begin: begin}
	http.ServeContent(d, r, "", modified, content)
	return d.failed
}

type downloadWriter struct {
	http.ResponseWriter
	begin  func() error
	failed error
}

// Unwrap returns the wrapped writer for http.ResponseController.
func (d *downloadWriter) Unwrap() http.ResponseWriter { return d.ResponseWriter }

// WriteHeader sends the status. With an error of begin, it takes back what describes the content instead.
func (d *downloadWriter) WriteHeader(status int) {
	if status == http.StatusOK || status == http.StatusPartialContent {
		d.failed = d.begin()
	}
	if d.failed == nil {
		d.ResponseWriter.WriteHeader(status)
		return
	}
	for _, name := range []string{"Accept-Ranges", "Content-Length", "Content-Range", "Content-Type"} {
		d.Header().Del(name)
	}
}

// Write sends bytes of the body.
func (d *downloadWriter) Write(b []byte) (int, error) {
	if d.failed != nil {
		return 0, d.failed
	}
	return d.ResponseWriter.Write(b)
}
