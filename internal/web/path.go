package web

import (
	"net/http"
	"net/url"
	"path"
	"strings"
)

// cleanRequest returns r, or a copy of it whose path has no trailing slash, no empty segment and no dot segment, so
// that the mux finds nothing to redirect. Encoded slashes and dots are data and stay.
func cleanRequest(r *http.Request) *http.Request {
	p := r.URL.Path
	if r.URL.RawPath != "" {
		p = r.URL.EscapedPath()
	}
	if isClean(p) {
		return r
	}
	return withPath(r, path.Clean("/"+r.URL.EscapedPath()))
}

// isClean reports whether p is its own canonical form.
func isClean(p string) bool {
	if strings.Contains(p, "/.") {
		return p[0] == '/' && path.Clean(p) == p
	}
	return p == "/" || strings.HasPrefix(p, "/") && !strings.HasSuffix(p, "/") && !strings.Contains(p, "//")
}

// withSlash returns a copy of r whose path ends in a slash.
func withSlash(r *http.Request) *http.Request { return withPath(r, r.URL.EscapedPath()+"/") }

// withPath returns a shallow copy of r with another escaped path.
func withPath(r *http.Request, escaped string) *http.Request {
	plain, err := url.PathUnescape(escaped)
	if err != nil {
		plain = escaped
	}
	copied := new(http.Request)
	*copied = *r
	copied.URL = new(url.URL)
	*copied.URL = *r.URL
	copied.URL.Path, copied.URL.RawPath = plain, escaped
	return copied
}
