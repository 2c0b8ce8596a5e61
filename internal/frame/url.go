package frame

import (
	"context"
	"net/http"
	"strings"
	"unicode"

	"github.com/a-h/templ"

	"github.com/countersign/countersign/internal/web"
)

// URL is the address of a path of ours as a template needs it: with the path
// prefix of the request's frame. A whole http or https URL is left as it is.
func URL(ctx context.Context, path string) templ.SafeURL {
	if strings.HasPrefix(path, "https://") || strings.HasPrefix(path, "http://") {
		return templ.SafeURL(path)
	}
	if !isOurs(path) {
		return "#"
	}
	if r := requestOf(ctx); r != nil {
		return templ.SafeURL(r.frame.URL(path))
	}
	return templ.SafeURL(path)
}

// Address is the whole URL of a path of ours, as the reader's browser reaches it.
func (f *Frame) Address(w http.ResponseWriter, r *Request, path string) string {
	origin := f.Origin
	if origin == "" {
		origin = web.BaseURL(w, r.Request)
	}
	return origin + f.URL(path)
}

// isOurs reports whether a browser takes path for a path of this very server.
func isOurs(path string) bool {
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") {
		return false
	}
	return !strings.ContainsFunc(path, func(r rune) bool { return r == '\\' || unicode.IsControl(r) })
}

// StripBase serves requests with and without the path prefix of --base-url
// alike, because reverse proxies do either.
func StripBase(base string, next http.Handler) http.Handler {
	if base == "" {
		return next
	}
	stripped := http.StripPrefix(base, next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == base:
			r = r.Clone(r.Context())
			r.URL.Path, r.URL.RawPath = base+"/", ""
			stripped.ServeHTTP(w, r)
		case strings.HasPrefix(r.URL.Path, base+"/"):
			stripped.ServeHTTP(w, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
}
