package frame

import (
	"io"
	"log/slog"
	"net/http"
	"time"
)

// A file is sent in pieces, and the server waits this long for a client to take
// the next one: a large file takes longer than any other answer may.
const (
	pieceSize = 32 << 10
	pieceWait = 15 * time.Second
)

// Send answers with a file of a media type and a name, whose bytes write writes. An error
// before the first of them is returned.
func (f *Frame) Send(w http.ResponseWriter, r *Request, kind, name string, write func(io.Writer) error) error {
	out := &download{ResponseWriter: w, kind: kind, name: name}
	err := write(out)
	if err == nil || !out.begun {
		return err
	}
	if r.Context().Err() == nil { // else the client has left, which is not a fault
		f.Log.LogAttrs(r.Context(), slog.LevelError, "a file was broken off", slog.Any("error", err))
	}
	panic(http.ErrAbortHandler) // half a file must not be taken for a whole one
}

// download is an answer that becomes a file with its first bytes; before them it
// can still become an error.
type download struct {
	http.ResponseWriter
	kind, name string
	begun      bool
}

// Write sends bytes of the file.
func (d *download) Write(b []byte) (n int, err error) {
	if !d.begun {
		d.begun = true
		h := d.Header()
		h.Set("Content-Type", d.kind)
		h.Set("Content-Disposition", `attachment; filename="`+d.name+`"`)
		h.Set("Cache-Control", "no-store")
	}
	for n < len(b) && err == nil {
		_ = http.NewResponseController(d.ResponseWriter).SetWriteDeadline(time.Now().Add(pieceWait)) // without it, the server's limit is for the whole file
		var sent int
		sent, err = d.ResponseWriter.Write(b[n:min(len(b), n+pieceSize)])
		n += sent
	}
	return n, err
}
