package api

import (
	"net/http"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/web"
)

// getMedium serves an uploaded picture, sound or video. Its content is not trusted: the headers
// keep browsers from running it or guessing another type. A name always has the same content.
func (f *frontEnd) getMedium(w http.ResponseWriter, r *http.Request) error {
	m, content, err := f.store.Media.Open(r.Context(), r.PathValue("name"))
	if err != nil {
		return fault.Public(err)
	}
	defer content.Close()
	h := w.Header()
	h.Set("Content-Type", m.Type)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("ETag", `"`+m.Digest+`"`)
	web.ServeFile(w, r, m.CreatedAt.Time, content)
	return nil
}
