// Package pages is the front end of the store for people: a start page, the page on which a
// buyer gets a license file, and the workspaces for those who sign in. Every page works without scripts; a form that was refused
// is shown again with what is wrong.
package pages

//go:generate go tool templ generate

import (
	"net/http"

	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/web"
)

// The pages' addresses that other packages need to know.
const (
	// PathHome is the start page.
	PathHome = "/"
	// PathLicense is the buyer's page.
	PathLicense = "/license"
	// PathWorkspaces is where somebody who signed in chooses a workspace.
	PathWorkspaces = "/w"
	PathSignIn     = "/login"
	PathAccount    = "/me"
	// PathInvite is where an invitation is accepted; its token stands behind #.
	PathInvite = "/invite"
)

// The addresses that only the pages need to know.
const (
	pathUsers  = "/users"
	pathHealth = "/health"
	pathAudit  = "/audit"
	// Not below /w, where it could be the name of a workspace.
	pathNewWorkspace = "/workspaces/new"
)

// Options configures the pages.
type Options struct {
	Store *store.Store
	// Frame is made from [FrameOptions], with what only the caller knows added.
	Frame *frame.Frame
	// Limits limits guessing of codes; the store's front ends share one.
	Limits *web.RateLimits
	// BaseURL is the store's own address without a trailing slash. Without it
	// licenses name the signing key as their issuer.
	BaseURL string
	// API answers the calls of the console; nil is for tests that make none.
	API http.Handler
}

// Pages are the handlers.
type Pages struct {
	store   *store.Store
	frame   *frame.Frame
	limits  *web.RateLimits
	baseURL string
	api     http.Handler
}

// apiURL is the store's own address, as the API answers a caller at this address.
func (p *Pages) apiURL(r *frame.Request) string {
	if p.baseURL != "" {
		return p.baseURL
	}
	return web.OwnURL(r.Request)
}

// lastAct returns what says who did something with a subject last.
func (p *Pages) lastAct(r *frame.Request, ws store.WorkspaceRole, action, subject string) func() string {
	return func() string {
		return frame.LastActOn(r, p.store.WorkspaceAudit(ws.Account.Username), action, subject)
	}
}
