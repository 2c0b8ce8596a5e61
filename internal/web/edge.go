package web

import (
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/requestid"
)

// Handler answers one request or returns an error, which the edge writes. A handler that returns an error has
// written nothing.
type Handler func(w http.ResponseWriter, r *http.Request) error

// Options configures an [Edge]. The zero value works: the store's envelope, errors to nowhere, no access log,
// no metrics, no proxy trusted.
type Options struct {
	// Log receives the cause of every answer of 500, and panics; of 503 the first and then one a minute for each code.
	Log *slog.Logger
	// Access receives one entry for each request.
	Access *AccessLog
	// Metrics counts and times requests.
	Metrics *Metrics
	// Answered is called after each request, before its connection is free for the next; nil is nobody.
	Answered func(Answered)
	// TrustedProxies are the networks whose X-Forwarded-* headers are believed.
	TrustedProxies []netip.Prefix
	// ErrorBody shapes an error for a front end whose errors differ from the store's {"status":"error","msg":"…"}. The error
	// it receives has a message and is safe to show; its cause is not. Its RequestID is that of the request.
	ErrorBody func(*http.Request, *countersign.Error) []byte
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Edge wraps the handlers of a front end for net/http.
type Edge struct {
	log       *slog.Logger
	access    *AccessLog
	metrics   *Metrics
	answered  func(Answered)
	trusted   []netip.Prefix
	errorBody func(*http.Request, *countersign.Error) []byte
	now       func() time.Time
	ids       *requestid.Source
	outages   outages
}

// NewEdge creates an edge.
func NewEdge(o Options) *Edge {
	e := &Edge{
		log: o.Log, access: o.Access, metrics: o.Metrics, answered: o.Answered, errorBody: o.ErrorBody, now: o.Now,
		trusted: unmapped(o.TrustedProxies), ids: requestid.NewSource(),
	}
	if e.now == nil {
		e.now = time.Now
	}
	return e
}

// Wrap returns an http.Handler whose errors the edge writes.
func (e *Edge) Wrap(h Handler) http.Handler { return &route{edge: e, handle: h} }

// Handler serves the mux, whose handlers come from [Edge.Wrap]. It adds the request id and default headers, recovers
// panics, counts and logs. It never redirects: trailing slashes, repeated slashes and dot segments are served as the
// clean path. An unknown path, a wrong method and OPTIONS get our responses.
//
// The handlers of rest, if any, are muxes of other front ends. They serve paths that the earlier ones do not have, in
// order.
func (e *Edge) Handler(mux *http.ServeMux, rest ...http.Handler) http.Handler {
	return &muxHandler{edge: e, mux: mux, routes: newRouteCache(mux), rest: rest}
}

// A route is one handler of a front end.
type route struct {
	edge   *Edge
	handle Handler
}

// ServeHTTP runs the handler; without an edge's handler around it, it does what that would do.
func (t *route) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := answerOf(w)
	if a == nil {
		a = t.edge.begin(w, r)
		defer a.end()
		w = a
	}
	a.routed, a.r = true, r
	if err := t.handle(w, r); err != nil {
		t.edge.failJSON(w, r, a, err)
	}
}

// A muxHandler is a mux under an edge, and what it leaves to others.
type muxHandler struct {
	edge   *Edge
	mux    *http.ServeMux
	routes *routeCache
	rest   []http.Handler
}

func (f *muxHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := f.edge.begin(w, r)
	defer a.end()
	switch {
	case r.Method == http.MethodTrace || r.Method == http.MethodConnect:
		f.refuseMethod(a, r)
	case r.RequestURI == "*":
		f.serverWide(a, r)
	default:
		f.serve(a, cleanRequest(r))
	}
}

// serve passes a request with a clean path to the mux. Responses of the mux itself are suppressed and replaced here.
func (f *muxHandler) serve(a *response, r *http.Request) {
	r = f.serveMux(f.routes, a, r)
	for _, other := range f.rest {
		if a.suppressedStatus != http.StatusNotFound {
			break
		}
		a.release()
		a.routed = false
		r = f.serveMux(other, a, r)
	}
	if a.suppressedStatus != 0 {
		f.replace(a, r)
	}
}

// serveMux runs one mux and returns the request with its matched pattern.
func (f *muxHandler) serveMux(mux http.Handler, a *response, r *http.Request) *http.Request {
	a.r = r
	mux.ServeHTTP(a, r)
	if isRedirect(a.suppressedStatus) {
		// The mux knows this path with a trailing slash only.
		a.release()
		r = withSlash(r)
		a.r = r
		mux.ServeHTTP(a, r)
	}
	return r
}
