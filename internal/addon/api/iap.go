package api

import (
	"net/http"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/web"
)

// getIAP answers GET /api-addons/iap/config (spec 2.7).
func (f *face) getIAP(w http.ResponseWriter, r *http.Request) error {
	return f.serve(w, r, addon.AddressIAP, func(s *served) *web.Prepared { return s.iap })
}
