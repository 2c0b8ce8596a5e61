package pages

import "net/http"

// The addresses that only the pages need to know.
const (
	pathIAP      = "/api-addons/admin/iap/settings"
	pathPackages = "/api-addons/admin/packages"
	pathHistory  = "/api-addons/admin/history"
	pathPreview  = "/api-addons/admin/preview"
	pathHealth   = "/api-addons/admin/health"
	pathAudit    = "/api-addons/admin/audit"
)

// routes is every address of the pages. The frame adds the shared ones: sign-in,
// set-up, the user's own pages and the assets.
func (p *Pages) routes(mux *http.ServeMux) {
	mux.Handle("/", p.frame.Public(p.frame.NotFound))
}
