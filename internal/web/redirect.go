package web

import (
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/fault"
)

// errHTTPSNeeded answers a call that came by plain HTTP. It is not redirected: its client would go on to send its key
// in clear.
var errHTTPSNeeded = fault.Forbidden("https_needed", "Use https. This call came over plain HTTP, so others may have read its key or password")

// ToHTTPS returns a handler for plain HTTP beside a server with TLS. It redirects GET and HEAD of pages to base, the
// server's URL, or with an empty base to the request's own host and the port of the server. Everything else, and all that
// programs ask for, is answered 403.
func (e *Edge) ToHTTPS(base string, port int) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", e.Wrap(func(w http.ResponseWriter, r *http.Request) error {
		if r.Method != http.MethodGet && r.Method != http.MethodHead || isCall(r) {
			return errHTTPSNeeded
		}
		to := base
		if to == "" {
			to = "https://" + hostWithPort(r, port)
		}
		target := *r.URL
		target.Scheme, target.Opaque, target.Host, target.User = "", "", "", nil
		w.Header().Set("Location", to+target.RequestURI())
		w.WriteHeader(http.StatusMovedPermanently)
		return nil
	}))
	return e.Handler(mux)
}

// forPrograms are the paths outside of APIs that programs read.
var forPrograms = []string{"/.well-known/jwks.json", "/openapi.json", "/healthz", "/readyz"}

// isCall reports whether a request is one of a program, or has a key.
func isCall(r *http.Request) bool {
	for _, name := range []string{"Authorization", "X-Api-Key"} {
		if len(r.Header[name]) > 0 {
			return true
		}
	}
	for _, api := range []string{"/api", "/api-addons"} {
		if strings.EqualFold(r.URL.Path, api) || len(r.URL.Path) > len(api) && strings.EqualFold(r.URL.Path[:len(api)+1], api+"/") {
			return true
		}
	}
	return slices.Contains(forPrograms, r.URL.Path) || r.URL.Query().Has("api_key")
}

// hostWithPort is the host of a request with another port, without 443.
func hostWithPort(r *http.Request, port int) string {
	host := r.Host
	if !isHost(host) {
		host = ownHost(r)
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	if port != 443 {
		return net.JoinHostPort(host, strconv.Itoa(port))
	}
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}
