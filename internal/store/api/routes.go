package api

import (
	"cmp"
	"net/http"
	"time"

	"github.com/countersign/countersign/internal/limit"
	"github.com/countersign/countersign/internal/prepared"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/web"
)

// New is the handler of all paths of the API.
func New(s *store.Store, o Options) http.Handler {
	f := &frontEnd{
		store: s, baseURL: o.BaseURL, openAPI: prepared.New(OpenAPI),
		limits: cmp.Or(o.Limits, web.NewRateLimits(limit.NewGuesses(limit.Options{}))), quotas: limit.NewWindow[int64](time.Minute, o.Now),
		calls: newCallLog(s.Requests),
	}
	options := web.Options{Log: o.Log, Access: o.Access, Metrics: o.Metrics, TrustedProxies: o.TrustedProxies, Now: o.Now}
	if s.Requests.On() {
		options.Answered = f.calls.answered
	}
	edge := web.NewEdge(options)
	if o.Pages == nil {
		return edge.Handler(f.routes(edge))
	}
	f.pages = o.Pages(edge.Handler(f.forConsole().routes(edge)))
	return edge.Handler(f.routes(edge), f.pages)
}

func (f *frontEnd) routes(edge *web.Edge) *http.ServeMux {
	mux := http.NewServeMux()
	handle := func(pattern string, h web.Handler) {
		mux.Handle(pattern, edge.Wrap(h))
		f.calls.add(pattern)
	}
	handle("GET /api/account/details", f.getAccount)
	handle("GET /api/items/all", f.listItems)
	handle("GET /api/items/item", f.getItem)
	// shared may be called from the pages of other origins, but not with a secret key: see readParams and identified.
	shared := func(method, path string, h web.Handler) {
		handle(method+" "+path, web.Shared(h))
		handle("OPTIONS "+path, web.Preflight(method))
	}
	shared("POST", "/api/purchases/validation", f.validatePurchase)
	shared("POST", "/api/licenses", f.issueLicense)
	shared("POST", "/api/licenses/move", f.moveLicense)
	shared("POST", "/api/licenses/revoke", f.revokeLicense)
	shared("POST", "/api/licenses/check", f.checkLicense)
	shared("GET", "/api/licenses/revoked", f.listRevokedLicenses)
	shared("GET", "/.well-known/jwks.json", f.getLicenseKeys)
	handle("GET /media/default/{picture}", f.orPage(f.getPicture))
	handle("GET /media/{name}", f.orPage(f.getUploadedFile))
	handle("GET /openapi.json", func(w http.ResponseWriter, r *http.Request) error { return web.ServePrepared(w, r, f.openAPI) })
	handle("GET /healthz", web.Healthz())
	handle("GET /readyz", web.Readyz(f.store.Instance.Ready))
	return mux
}
