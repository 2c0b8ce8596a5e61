package pages

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/people"
)

// exportAudit sends the lines that the page of the log would show, all of them.
func (p *Pages) exportAudit(format people.AuditFormat) frame.Handler {
	return func(w http.ResponseWriter, r *frame.Request) error {
		out := &download{ResponseWriter: w, kind: auditKinds[format], name: "audit." + string(format)}
		err := p.addon.People().ExportAudit(r.Context(), r.Actor, auditFilter(r), format, out)
		if err == nil || !out.begun {
			return err
		}
		if r.Context().Err() == nil { // else the client has left, which is not a fault
			p.frame.Log.LogAttrs(r.Context(), slog.LevelError, "an export was broken off", slog.Any("error", err))
		}
		panic(http.ErrAbortHandler) // half a file must not be taken for a whole one
	}
}

var auditKinds = map[people.AuditFormat]string{
	people.AuditCSV: "text/csv; charset=utf-8", people.AuditJSONL: "application/jsonl; charset=utf-8",
}

// A file is sent in pieces, and the server waits this long for a client to take
// the next one: a large file takes longer than any other answer may.
const (
	pieceSize = 32 << 10
	pieceWait = 15 * time.Second
)

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
