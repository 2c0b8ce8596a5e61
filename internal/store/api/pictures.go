package api

import (
	"embed"
	"net/http"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/web"
)

//go:embed media/avatar.png media/cover.png
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

// fillPictures puts the default pictures in the place of those that a profile
// lacks: clients need an absolute URL. Without a base URL it is the address that the
// server listens on; the host of a request would be any that a client chooses.
func (f *frontEnd) fillPictures(r *http.Request, m *countersign.ProfileMedia) {
	base := f.baseURL
	if base == "" {
		base = web.OwnURL(r)
	}
	if m.Avatar == "" {
		m.Avatar = base + "/media/default/avatar.png"
	}
	if m.Cover == "" {
		m.Cover = base + "/media/default/cover.png"
	}
}
