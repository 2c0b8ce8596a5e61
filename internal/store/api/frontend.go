// Package api is the JSON API of the store: the four endpoints of spec 4.1 to
// 4.4, the pictures and the OpenAPI document that belong to them, and health.
package api

import (
	_ "embed"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/countersign/countersign/internal/limit"
	"github.com/countersign/countersign/internal/prepared"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/web"
)

// Options configures the API. The zero value works.
type Options struct {
	// BaseURL is the store's own address without a trailing slash. Without it what
	// is signed names the signing key as its issuer.
	BaseURL string
	// Limits limits guessing of keys and codes; nil means no limit. The store's front
	// ends share one.
	Limits *web.RateLimits
	// Pages returns the handler of the paths that the API does not know. It may be nil. console
	// answers calls that people make on a page: see [frontEnd.forConsole].
	Pages          func(console http.Handler) http.Handler
	TrustedProxies []netip.Prefix
	Log            *slog.Logger
	Access         *web.AccessLog
	Metrics        *web.Metrics
	Now            func() time.Time
}

// frontEnd answers requests by asking the store's rules.
type frontEnd struct {
	store   *store.Store
	baseURL string
	openAPI *prepared.Response
	limits  *web.RateLimits
	quotas  *limit.Window[int64]
	calls   *callLog
	pages   http.Handler // nil without pages
}

// OpenAPI is the OpenAPI 3.1 document of this API. It must not be changed.
//
//go:embed openapi.json
var OpenAPI []byte
