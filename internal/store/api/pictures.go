package api

import (
	"embed"
	"net/http"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/store/validation"
	"github.com/countersign/countersign/internal/web"
)

//go:embed media/*.png
var pictures embed.FS

// getPicture serves a default picture.
func (f *frontEnd) getPicture(w http.ResponseWriter, r *http.Request) error {
	picture, err := pictures.ReadFile("media/" + r.PathValue("picture"))
	if err != nil {
		return fault.NotFound("", "")
	}
	w.Header().Set("Content-Type", "image/png")
	w.Header().Set("Cache-Control", "public, max-age=86400")
	_, _ = w.Write(picture)
	return nil
}

// base is where default pictures are: clients need an absolute URL. Without a base URL it
// is the address that the server listens on; the host of a request would be any that a
// client chooses.
func (f *frontEnd) base(r *http.Request) string {
	if f.baseURL != "" {
		return f.baseURL
	}
	return web.OwnURL(r)
}

// printed is an item with default pictures in the place of those that it lacks.
func (f *frontEnd) printed(r *http.Request, i validation.ItemText) string {
	if i.Complete() {
		return i.Text()
	}
	return i.With(f.base(r))
}
