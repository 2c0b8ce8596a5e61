package api

import (
	"cmp"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/countersign/countersign/internal/limit"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/web"
)

// Options says how the face behaves. The zero value works.
type Options struct {
	// BaseURL is the store's own address without a trailing slash. Without it what
	// is signed names the signing key as its issuer.
	BaseURL string
	// Guard holds back those who guess keys and codes; nil holds nobody back. The
	// store's faces share one.
	Guard *web.Guard
	// Pages is asked for the paths that the face does not know; nil is none.
	Pages          http.Handler
	TrustedProxies []netip.Prefix
	Log            *slog.Logger
	Access         *web.AccessLog
	Metrics        *web.Metrics
	Now            func() time.Time
}

// face answers requests by asking the store's rules.
type face struct {
	store   *store.Store
	baseURL string
	openAPI *web.Prepared
	guard   *web.Guard
	quotas  *limit.Window[int64]
}

// New is the handler of all paths of the face.
func New(s *store.Store, o Options) http.Handler {
	f := &face{
		store: s, baseURL: o.BaseURL, openAPI: web.Prepare(openAPI),
		guard: cmp.Or(o.Guard, web.NewGuard(limit.NewGuard(limit.Options{}))), quotas: limit.NewWindow[int64](time.Minute, o.Now),
	}
	edge := web.NewEdge(web.Options{Log: o.Log, Access: o.Access, Metrics: o.Metrics, TrustedProxies: o.TrustedProxies, Now: o.Now})
	if o.Pages == nil {
		return edge.Handler(f.routes(edge))
	}
	return edge.Handler(f.routes(edge), o.Pages)
}

func (f *face) routes(edge *web.Edge) *http.ServeMux {
	mux := http.NewServeMux()
	handle := func(pattern string, h web.Handler) { mux.Handle(pattern, edge.Wrap(h)) }
	handle("GET /api/account/details", f.getAccount)
	handle("GET /api/items/all", f.listItems)
	handle("GET /api/items/item", f.getItem)
	handle("POST /api/purchases/validation", f.validatePurchase)
	handle("POST /api/licenses", f.issueLicense)
	handle("POST /api/licenses/move", f.moveLicense)
	handle("POST /api/licenses/revoke", f.revokeLicense)
	handle("POST /api/licenses/check", f.checkLicense)
	handle("GET /api/licenses/revoked", f.listRevokedLicenses)
	handle("GET /.well-known/jwks.json", f.getLicenseKeys)
	handle("GET /media/default/{picture}", f.getPicture)
	handle("GET /openapi.json", f.getOpenAPI)
	handle("GET /healthz", web.Healthz())
	handle("GET /readyz", web.Readyz(f.store.Ready))
	return mux
}
