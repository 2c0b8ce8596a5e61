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
