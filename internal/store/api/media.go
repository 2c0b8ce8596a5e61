package api

import (
	"net/http"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/web"
)

// orPage is a handler of addresses that people open by themselves: where nothing is found, a browser gets the page that
// says so.
func (f *frontEnd) orPage(h web.Handler) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		err := h(w, r)
		missing := fault.Of(err)
		if f.pages == nil || missing == nil || missing.Kind != countersign.KindNotFound || !strings.Contains(r.Header.Get("Accept"), "text/html") {
			return err
		}
		f.pages.ServeHTTP(w, r)
		return nil
	}
}

// getUploadedFile serves an uploaded picture, sound or video. Its content is not trusted: the headers
// keep browsers from running it or guessing another type. A name always has the same content.
func (f *frontEnd) getUploadedFile(w http.ResponseWriter, r *http.Request) error {
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
