package frame

import (
	"net/http"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
)

// WantsJSON reports whether the client asks for JSON rather than for a page.
func (r *Request) WantsJSON() bool { return wantsJSON(r.Request) }

// wantsJSON reports whether the client asks for JSON rather than for a page.
func wantsJSON(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html")
}

// refusesPages reports whether a client asks for JSON and takes nothing else.
func refusesPages(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return wantsJSON(r) && !strings.Contains(accept, "*/*") && !strings.Contains(accept, "text/*")
}

var errPage = fault.New(countersign.KindNotAcceptable, "not_acceptable", "This address serves pages only, but the request accepts only JSON. Nothing was changed. /openapi.json lists the addresses that serve JSON")

// asPage keeps a form from being done for a client that could not read the answer.
func asPage(h Handler) Handler {
	return func(w http.ResponseWriter, r *Request) error {
		if r.Method == http.MethodPost && refusesPages(r.Request) && strings.HasPrefix(r.Pattern, "POST ") {
			return errPage
		}
		return h(w, r)
	}
}

// asOnlyPage answers 406 instead of 401 to a client that accepts no pages, so that it
// does not sign in for nothing. Patterns for every method are left alone.
func asOnlyPage(h Handler) Handler {
	return func(w http.ResponseWriter, r *Request) error {
		if refusesPages(r.Request) && !strings.HasPrefix(r.Pattern, "/") {
			return errPage
		}
		return h(w, r)
	}
}
