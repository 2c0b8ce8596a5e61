package api

import (
	"net/http"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/fault"
)

// getSettings answers GET /api-addons/app/settings (spec 2.5, 4.5).
func (f *face) getSettings(w http.ResponseWriter, r *http.Request) error {
	w.Header()["Access-Control-Allow-Origin"] = anySite
	p, err := f.addon.Settings.Published(r.Context())
	if err != nil {
		return fault.Public(err)
	}
	return f.serve(w, r, addon.AddressSettings, f.settings.of(p.JSON))
}
