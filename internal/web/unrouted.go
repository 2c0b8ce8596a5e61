package web

import (
	"net/http"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
)

// unmatched stands for the route of a request that no pattern matched.
const unmatched = "unmatched"

func isRedirect(status int) bool { return status >= 300 && status < 400 }

// replace writes our response for an unknown path or a wrong method in place of the mux's. It keeps and completes the
// mux's Allow header.
func (f *muxHandler) replace(a *response, r *http.Request) {
	status := a.suppressedStatus
	a.release()
	switch {
	case status != http.StatusMethodNotAllowed:
		f.edge.failJSON(a, r, a, errNotFound())
	case r.Method == http.MethodOptions:
		a.Header().Set("Allow", withOptions(a.Header().Get("Allow")))
		a.WriteHeader(http.StatusNoContent)
	default:
		a.Header().Set("Allow", withOptions(a.Header().Get("Allow")))
		f.edge.failJSON(a, r, a, errMethod())
	}
}

// serverWide handles a request for "*", which only OPTIONS allows (RFC 9110, 9.3.7).
func (f *muxHandler) serverWide(a *response, r *http.Request) {
	a.routed = true
	if r.Method == http.MethodOptions {
		a.WriteHeader(http.StatusNoContent)
		return
	}
	f.edge.failJSON(a, r, a, errNotFound())
}

// refuseMethod responds with 405 to TRACE and CONNECT, which never reach a handler.
func (f *muxHandler) refuseMethod(a *response, r *http.Request) {
	a.routed = true
	a.Header().Set("Allow", f.allowed(r))
	f.edge.failJSON(a, r, a, errMethod())
}

// allowed returns the methods that the mux has for a path; none for an unknown path.
func (f *muxHandler) allowed(r *http.Request) string {
	probe := *cleanRequest(r)
	var methods []string
	for _, m := range []string{"DELETE", "GET", "HEAD", "PATCH", "POST", "PUT"} {
		probe.Method = m
		if _, pattern := f.mux.Handler(&probe); pattern != "" {
			methods = append(methods, m)
		}
	}
	if methods == nil {
		return ""
	}
	return withOptions(strings.Join(methods, ", "))
}

// withOptions adds OPTIONS at the end of an Allow; the mux names it before POST where it is a route.
func withOptions(allow string) string {
	allow = strings.Replace(allow, "OPTIONS, ", "", 1)
	if strings.Contains(allow, http.MethodOptions) {
		return allow
	}
	return allow + ", " + http.MethodOptions
}

func errNotFound() error {
	return fault.NotFound(countersign.CodeNotFound, countersign.MsgNotFound)
}

func errMethod() error {
	return fault.New(countersign.KindMethodNotAllowed, countersign.CodeMethodNotAllowed, countersign.MsgMethodNotAllowed)
}
