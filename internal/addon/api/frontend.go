// Package api is the JSON API of the addon: the public settings and the view of
// in-app purchases that apps read (spec 4.5), the settings and the update as JSON
// for programs, the OpenAPI document of these, and health.
//
// The public routes know no caller: nothing that a request says about who sent it
// is looked at. The others have a page at the same address, which a request gets
// that asks for one.
package api

import (
	_ "embed"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/limit"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/prepared"
	"github.com/countersign/countersign/internal/web"
)

// Options configures the API. The zero value works.
type Options struct {
	// BaseURL is the addon's own address without a trailing slash, "" when it is
	// not known. Under https it tells that a proxy brings Basic over TLS, and its
	// path is the one that callers see.
	BaseURL string
	// Pages answers requests for pages: at the addresses that are also JSON, and
	// everywhere else. It is a mux whose handlers were made by [web.Edge.Wrap]; nil
	// means that there are none.
	Pages http.Handler
	// Visitor returns the signed-in user of a request; nil means none. Its error is for
	// a request that another site sent. It is called once the addon is set up.
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

// frontEnd answers requests by asking the addon's rules.
type frontEnd struct {
	Options
	addon    *addon.Addon
	openAPI  *prepared.Response
	failures *limit.Limiter
	origins  *http.CrossOriginProtection
	// verifications and intents count the calls of users.
	verifications, intents *limit.Window[string]
	// settings and iap are the public responses.
	settings, iap public
}

// OpenAPI is the OpenAPI 3.1 document of this API. It must not be changed.
//
//go:embed openapi.json
var OpenAPI []byte
