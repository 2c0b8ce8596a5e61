package web

import (
	"net/http"
	"strings"
)

// The headers by which pages of other origins may call (CORS). Nobody writes into them.
var (
	anyOrigin = []string{"*"}
	// readable are what a page needs besides the body; browsers show it the others of a response without being asked.
	readable = []string{"X-Error-Code, X-Request-Id, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset"}
	// sendable also names headers that apps are known to send, for browsers that take the star for a name; it never stands
	// for Authorization.
	sendable = []string{"*, Authorization, Content-Type, X-Api-Key, X-Api-Nonce, X-Api-Signature, X-Api-Timestamp, " +
		"X-Auth-Token, X-Lang, X-Requested-With, X-Signature, X-Timestamp"}
	preflightAge = []string{"86400"}
)

// Share lets the pages of any origin read the response; their browsers send no cookies and no stored credentials.
func Share(w http.ResponseWriter) {
	h := w.Header()
	h["Access-Control-Allow-Origin"] = anyOrigin
	h["Access-Control-Expose-Headers"] = readable
}

// Unshare takes [Share] back.
func Unshare(w http.ResponseWriter) {
	h := w.Header()
	delete(h, "Access-Control-Allow-Origin")
	delete(h, "Access-Control-Expose-Headers")
}

// Shared is h with a response, also an error, that the pages of any origin may read.
func Shared(h Handler) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		Share(w)
		return h(w, r)
	}
}

// Preflight answers OPTIONS of a path that the pages of any origin may call by this method, whatever headers their
// program sends along. HEAD comes with GET, as in the mux.
func Preflight(method string) Handler {
	allow := []string{withOptions(strings.Replace(method, "GET", "GET, HEAD", 1))}
	return func(w http.ResponseWriter, _ *http.Request) error {
		h := w.Header()
		h["Allow"] = allow
		h["Access-Control-Allow-Origin"] = anyOrigin
		h["Access-Control-Allow-Methods"] = allow
		h["Access-Control-Allow-Headers"] = sendable
		h["Access-Control-Max-Age"] = preflightAge
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
}
