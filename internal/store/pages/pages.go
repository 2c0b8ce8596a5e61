// Package pages is the face of the store for people: the page on which a buyer
// gets a license file. Every page works without scripts; a form that was refused
// is shown again with what is wrong.
package pages

//go:generate go tool templ generate

import (
	"net/http"

	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/web"
)

// PathLicense is the address of the buyer's page.
const PathLicense = "/license"

// Options says what the pages stand on.
type Options struct {
	Store *store.Store
	// Frame is made from [FrameOptions], with what only the caller knows added.
	Frame *frame.Frame
	// Guard holds back those who guess codes; the store's faces share one.
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

// New serves all pages of the store and the assets. It belongs inside web.Edge,
// behind the other faces' routes: it leaves paths that it does not know alone.
func New(o Options) *http.ServeMux {
	p := &Pages{store: o.Store, frame: o.Frame, guard: o.Guard, baseURL: o.BaseURL}
	mux := http.NewServeMux()
	o.Frame.Routes(mux)
	p.routes(mux)
	return mux
}

// FrameOptions is the frame that the store's pages need. The caller adds the log,
// the clock and what --base-url says.
func FrameOptions() frame.Options {
	return frame.Options{Brand: "Countersign store", Command: "countersign store", Home: PathLicense}
}

// routes is every address of the pages.
func (p *Pages) routes(mux *http.ServeMux) {
	mux.Handle("GET /license", p.frame.Public(p.showLicense))
	mux.Handle("POST /license", p.frame.Public(p.issueLicense))
	mux.Handle("GET /license/move", p.frame.Public(p.toLicense))
	mux.Handle("POST /license/move", p.frame.Public(p.moveLicense))
	mux.Handle("GET /license/revoke", p.frame.Public(p.toLicense))
	mux.Handle("POST /license/revoke", p.frame.Public(p.revokeLicense))

	nowhere := p.frame.Public(p.frame.NotFound)
	mux.Handle("/license", p.frame.Methods(mux, nowhere))
	mux.Handle("/license/move", p.frame.Methods(mux, nowhere))
	mux.Handle("/license/revoke", p.frame.Methods(mux, nowhere))
}
