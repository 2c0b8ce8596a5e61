package api

import (
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/limit"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/web"
)

// Options says how the face behaves. The zero value works.
type Options struct {
	// BaseURL is the addon's own address without a trailing slash, "" when it is
	// not known. Under https it tells that a proxy brings Basic over TLS, and its
	// path is the one that callers see.
	BaseURL string
	// Pages answers requests for pages: at the addresses that are also JSON, and
	// everywhere else. It is a mux whose handlers were made by [web.Edge.Wrap]; nil
	// means that there are none.
	Pages http.Handler
	// Visitor tells who is signed in where a request came from; nil means nobody.
	// Its error is for a request that another site sent. It is asked once the
	// addon is installed.
	Visitor func(w http.ResponseWriter, r *http.Request) (actor people.Actor, signedIn bool, err error)
	// FailLimit is how many failed authentications an address has a minute; 0
	// means no limit.
	FailLimit      int
	TrustedProxies []netip.Prefix
	Log            *slog.Logger
	Access         *web.AccessLog
	Metrics        *web.Metrics
	Now            func() time.Time
}

// face answers requests by asking the addon's rules.
type face struct {
	Options
	addon    *addon.Addon
	openAPI  *web.Prepared
	failures *limit.Limiter
	origins  *http.CrossOriginProtection
	// settings and iap are the public responses.
	settings, iap public
}

// New is the handler of the whole site: the paths of this face, and Options.Pages
// for all others.
func New(a *addon.Addon, o Options) http.Handler {
	f := &face{
		Options: o, addon: a, openAPI: web.Prepare(openAPI), failures: limit.NewLimiter(o.FailLimit, o.Now),
		origins: http.NewCrossOriginProtection(),
	}
	edge := web.NewEdge(web.Options{
		Log: o.Log, Access: o.Access, Metrics: o.Metrics, TrustedProxies: o.TrustedProxies, Now: o.Now, ErrorBody: errorBody,
	})
	mux := f.routes(edge)
	if o.Pages == nil {
		return edge.Handler(mux)
	}
	return edge.Handler(mux, http.HandlerFunc(f.elsewhere))
}

func (f *face) routes(edge *web.Edge) *http.ServeMux {
	mux := http.NewServeMux()
	handle := func(pattern string, h web.Handler) { mux.Handle(pattern, edge.Wrap(h)) }
	handle("GET /api-addons/app/settings", f.getSettings)
	handle("OPTIONS /api-addons/app/settings", allowAnySite)
	handle("GET /api-addons/iap/config", f.getIAP)
	handle("OPTIONS /api-addons/iap/config", allowAnySite)
	handle("GET /api-addons/admin/app/settings", f.orPage(f.getDraft))
	handle("POST /api-addons/admin/app/settings", f.orPage(f.changeDraft))
	handle("POST /api-addons/admin/app/settings/publish", f.orPage(f.publishDraft))
	if f.Pages != nil {
		handle("GET /api-addons/admin/app/settings/publish", f.orPage(postOnly))
	}
	handle("GET /api-addons/update.php", f.orPage(f.planUpdate))
	handle("POST /api-addons/update.php", f.orPage(f.runUpdate))
	handle("GET /openapi.json", f.getOpenAPI)
	handle("GET /healthz", web.Healthz())
	handle("GET /readyz", web.Readyz(f.addon.Ready))
	return mux
}

// elsewhere leaves all other paths to the pages, but not those below the folders
// that apps read from: an app can do nothing with a page.
func (f *face) elsewhere(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/api-addons/app/") || strings.HasPrefix(r.URL.Path, "/api-addons/iap/") {
		http.NotFound(w, r) // the edge puts its own answer there
		return
	}
	f.Pages.ServeHTTP(w, r)
}
