// Package pages is the front end of the store for people: a start page, and the page on
// which a buyer gets a license file. Every page works without scripts; a form that was refused
// is shown again with what is wrong.
package pages

//go:generate go tool templ generate

import (
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/web"
)

// PathHome is the address of the start page.
const PathHome = "/"

// PathLicense is the address of the buyer's page.
const PathLicense = "/license"

// Options configures the pages.
type Options struct {
	Store *store.Store
	// Frame is made from [FrameOptions], with what only the caller knows added.
	Frame *frame.Frame
	// Guard limits guessing of codes; the store's front ends share one.
	Guard *web.Guard
	// BaseURL is the store's own address without a trailing slash. Without it
	// licenses name the signing key as their issuer.
	BaseURL string
}

// Pages are the handlers.
type Pages struct {
	store   *store.Store
	frame   *frame.Frame
	guard   *web.Guard
	baseURL string
}
