package frame

import (
	"io"
	"log/slog"
	"net/http"

	"github.com/countersign/countersign/internal/web"
)

// Send answers with a file of a media type and a name, whose bytes write writes. An error
// before the first of them is returned.
func (f *Frame) Send(w http.ResponseWriter, r *Request, kind, name string, write func(io.Writer) error) error {
	out := &download{ResponseWriter: web.PieceDeadlines(w), kind: kind, name: name}
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
func (d *download) Write(b []byte) (int, error) {
	if !d.begun {
		d.begun = true
		h := d.Header()
		h.Set("Content-Type", d.kind)
		h.Set("Content-Disposition", `attachment; filename="`+d.name+`"`)
		h.Set("Cache-Control", "no-store")
	}
	return d.ResponseWriter.Write(b)
}
