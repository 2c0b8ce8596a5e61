package api

import (
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/web"
)

// Options says how the face behaves. The zero value works.
type Options struct {
	// BaseURL is the store's own address without a trailing slash; empty means
	// the one by which a request came.
	BaseURL string
	// FailLimit is how many failed authentications and validations an address
	// has a minute; 0 means no limit, neither for addresses nor for purchase codes.
	FailLimit      int
	TrustedProxies []netip.Prefix
	Log            *slog.Logger
	Access         *web.AccessLog
	Metrics        *web.Metrics
	Now            func() time.Time
}

// face answers requests by asking the store's rules.
type face struct {
	store    *store.Store
	baseURL  string
	openAPI  *web.Prepared
	failures *web.Limiter
	quotas   *web.Window[int64]
	// codes counts what is asked for purchase codes in an hour, up to codeLimit; 0
	// means no limit.
	codes     *web.Window[codeUse]
	codeLimit int
}

// New is the handler of all paths of the face.
func New(s *store.Store, o Options) http.Handler {
	f := &face{
		store: s, baseURL: o.BaseURL, openAPI: web.Prepare(openAPI),
		failures: web.NewLimiter(o.FailLimit, o.Now), quotas: web.NewWindow[int64](o.Now),
		codes: web.NewLongWindow[codeUse](time.Hour, o.Now),
	}
	if o.FailLimit > 0 {
		f.codeLimit = codeLimit
	}
	edge := web.NewEdge(web.Options{Log: o.Log, Access: o.Access, Metrics: o.Metrics, TrustedProxies: o.TrustedProxies, Now: o.Now})
	return edge.Handler(f.routes(edge))
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
	handle("POST /api/licenses/check", f.checkLicense)
	handle("GET /api/licenses/revoked", f.listRevokedLicenses)
	handle("GET /.well-known/jwks.json", f.getLicenseKeys)
	handle("GET /media/default/{picture}", f.getPicture)
	handle("GET /openapi.json", f.getOpenAPI)
	handle("GET /healthz", web.Healthz())
	handle("GET /readyz", web.Readyz(f.store.Ready))
	return mux
}
