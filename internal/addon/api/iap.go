package api

import (
	"net/http"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/fault"
)

// getIAP answers GET /api-addons/iap/config (spec 2.7).
func (f *face) getIAP(w http.ResponseWriter, r *http.Request) error {
	w.Header()["Access-Control-Allow-Origin"] = anySite
	p, err := f.addon.IAP.Published(r.Context())
	if err != nil {
		return fault.Public(err)
	}
	return f.serve(w, r, addon.AddressIAP, f.iap.of(p.JSON))
}
