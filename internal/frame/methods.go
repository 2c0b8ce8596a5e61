package frame

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
)

// Methods serves the patterns of a mux that take every method. It answers a wrong
// method at a page's path with 405 and Allow, or OPTIONS with Allow only. Other paths
// go to otherwise.
func (f *Frame) Methods(mux *http.ServeMux, otherwise http.Handler) http.Handler {
	refuse := f.handler(func(http.ResponseWriter, *Request) error {
		return fault.New(countersign.KindMethodNotAllowed, countersign.CodeMethodNotAllowed, countersign.MsgMethodNotAllowed)
	})
	return f.edge.Wrap(func(w http.ResponseWriter, r *http.Request) error {
		allowed := methodsOf(mux, r)
		if len(allowed) == 0 {
			otherwise.ServeHTTP(w, r)
			return nil
		}
		w.Header().Set("Allow", strings.Join(append(allowed, http.MethodOptions), ", "))
		if r.Method == http.MethodOptions {
			f.setHeaders(w, r)
			w.WriteHeader(http.StatusNoContent)
			return nil
		}
		refuse.ServeHTTP(w, r)
		return nil
	})
}

// Elsewhere answers the paths that no page of a mux has, with a page for browsers. What other clients ask for, and
// all below the folder api, is left to the edge, which answers JSON.
func (f *Frame) Elsewhere(mux *http.ServeMux, api string) http.Handler {
	page := f.Methods(mux, f.Public(f.NotFound))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		browser := strings.Contains(r.Header.Get("Accept"), "text/html") && !strings.HasPrefix(r.URL.Path, api)
		if !browser && len(methodsOf(mux, r)) == 0 {
			r.Pattern = "" // as if there were none
			http.NotFound(w, r)
			return
		}
		page.ServeHTTP(w, r)
	})
}

// methodsOf lists the methods that a path's own pages take. A slash at its end
// counts for nothing, as everywhere.
func methodsOf(mux *http.ServeMux, r *http.Request) (methods []string) {
	probe, address := *r, *r.URL
	address.Path, address.RawPath = cmp.Or(strings.TrimSuffix(address.Path, "/"), "/"), strings.TrimSuffix(address.RawPath, "/")
	probe.URL = &address
	for _, probe.Method = range []string{http.MethodGet, http.MethodPost} {
		if _, pattern := mux.Handler(&probe); strings.HasPrefix(pattern, probe.Method+" ") {
			methods = append(methods, probe.Method)
		}
	}
	if at := slices.Index(methods, http.MethodGet); at >= 0 {
		methods = slices.Insert(methods, at+1, http.MethodHead)
	}
	return methods
}
