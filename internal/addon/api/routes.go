package api

import (
	"net/http"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/limit"
	"github.com/countersign/countersign/internal/prepared"
	"github.com/countersign/countersign/internal/web"
)

// New is the handler of the whole site: the paths of this API, and Options.Pages
// for all others.
func New(a *addon.Addon, o Options) http.Handler {
	f := &frontEnd{
		Options: o, addon: a, openAPI: prepared.New(OpenAPI), failures: limit.NewLimiter(o.FailLimit, o.Now),
		origins: http.NewCrossOriginProtection(), verifications: limit.NewWindow[string](time.Minute, o.Now),
		intents: limit.NewWindow[string](time.Minute, o.Now),
	}
	edge := web.NewEdge(web.Options{
		Log: o.Log, Access: o.Access, Metrics: o.Metrics, TrustedProxies: o.TrustedProxies, Now: o.Now, ErrorBody: errorBody,
	})
	mux := f.routes(edge)
	if o.Pages == nil {
		return edge.Handler(mux)
	}
	return edge.Handler(mux, http.HandlerFunc(f.servePages))
}

func (f *frontEnd) routes(edge *web.Edge) *http.ServeMux {
	mux := http.NewServeMux()
	handle := func(pattern string, h web.Handler) { mux.Handle(pattern, edge.Wrap(h)) }
	shared := func(method, path string, h web.Handler) {
		handle(method+" "+path, web.Shared(h))
		handle("OPTIONS "+path, web.Preflight(method))
	}
	shared("GET", "/api-addons/app/settings", f.getSettings)
	shared("GET", pathIAP, f.getIAP)
	handle("GET /api-addons/admin/app/settings", f.orPage(f.getDraft))
	handle("POST /api-addons/admin/app/settings", f.orPage(f.changeDraft))
	handle("POST /api-addons/admin/app/settings/publish", f.orPage(f.publishDraft))
	if f.Pages != nil {
		handle("GET /api-addons/admin/app/settings/publish", f.orPage(postOnly))
	}
	handle("GET /api-addons/update.php", f.orPage(f.planUpdate))
	handle("POST /api-addons/update.php", f.orPage(f.runUpdate))
	handle("POST /api-addons/auth/user-token", withPurchaseCodes(f.addUserToken))
	shared("GET", "/api-addons/auth/user", withPurchaseCodes(f.getUser))
	f.appRoutes(func(method, path string, h web.Handler) { shared(method, path, withPurchaseCodes(h)) })
	f.siteRoutes(func(pattern string, h web.Handler) { handle(pattern, withPurchaseCodes(h)) })
	openAPI := func(w http.ResponseWriter, r *http.Request) error { return web.ServePrepared(w, r, f.openAPI) }
	handle("GET /openapi.json", openAPI)
	handle("GET /api-addons/openapi.json", openAPI)
	handle("GET /healthz", web.Healthz())
	handle("GET /readyz", web.Readyz(f.addon.Instance.Ready))
	return mux
}

// appRoutes are the endpoints of purchases that the app calls, which may be a page in a WebView.
func (f *frontEnd) appRoutes(handle func(method, path string, h web.Handler)) {
	handle("POST", "/api-addons/iap/intents", f.addIntent)
	handle("POST", "/api-addons/iap/verify", f.verifyPurchase)
	handle("POST", "/api-addons/iap/restore", f.restorePurchases)
	handle("POST", "/api-addons/iap/simulated/purchases", f.addSimulatedPurchase)
	handle("GET", "/api-addons/iap/membership", f.getMembership)
	handle("GET", "/api-addons/iap/purchases", f.listPurchases)
	handle("GET", "/api-addons/iap/keys", f.listKeys)
}

// siteRoutes are the endpoints of purchases that the site and the app's store call.
func (f *frontEnd) siteRoutes(handle func(string, web.Handler)) {
	handle("POST /api-addons/iap/notifications/store", f.receiveNotification)
	handle("GET /api-addons/iap/users/{user}/membership", f.getUserMembership)
	handle("GET /api-addons/iap/users/{user}/purchases", f.listUserPurchases)
	handle("GET /api-addons/iap/users/{user}/grants", f.listGrants)
	handle("POST /api-addons/iap/users/{user}/grants", f.addGrant)
	handle("DELETE /api-addons/iap/users/{user}/grants/{grant}", f.removeGrant)
	handle("POST /api-addons/iap/purchases/{purchase}/refresh", f.refreshPurchase)
	handle("POST /api-addons/iap/purchases/{purchase}/transfer", f.transferPurchase)
	handle("POST /api-addons/iap/purchases/{purchase}/refuse", f.refusePurchase)
	handle("POST /api-addons/iap/purchases/{purchase}/cancel", f.cancelPurchase)
	handle("POST /api-addons/iap/purchases/{purchase}/revoke", f.revokePurchase)
	handle("POST /api-addons/iap/purchases/{purchase}/defer", f.deferPurchase)
	handle("POST /api-addons/iap/users/merge", f.mergeUsers)
	handle("DELETE /api-addons/iap/users/{user}", f.eraseUser)
	handle("GET /api-addons/iap/events", f.listEvents)
}

// servePages leaves all other paths to the pages. Below the folders that apps call, it does so only for
// addresses that somebody opens in a browser: an app can do nothing with a page.
func (f *frontEnd) servePages(w http.ResponseWriter, r *http.Request) {
	opened := r.Method == http.MethodGet && wantsPage(r)
	if !opened && (strings.HasPrefix(r.URL.Path, "/api-addons/app/") || isForPurchases(r.URL.Path)) {
		http.NotFound(w, r) // the edge puts its own answer there
		return
	}
	f.Pages.ServeHTTP(w, r)
}

// nextSteps describes what to do about errors, by their codes.
var nextSteps = fault.NextSteps{
	fault.CodeUpdateNeeded: "run: countersign addon update",
	"credential_inactive":  "switch them on under /admincp/apis",
	"not_allowed":          "create links and tokens at the command line",
}

func errorBody(r *http.Request, err *countersign.Error) []byte {
	err = fault.Of(nextSteps.Add(err))
	if isForPurchases(r.URL.Path) && r.URL.Path != pathIAP {
		return purchaseErrorBody(err)
	}
	return web.DetailedBody(r, err)
}
