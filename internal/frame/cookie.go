package frame

import (
	"cmp"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/countersign/countersign/internal/web"
)

// isSecure reports whether the browser speaks https: with the base URL, or with a trusted proxy that says so.
func (f *Frame) isSecure(w http.ResponseWriter, r *http.Request) bool {
	return f.Secure || web.IsHTTPS(w, r)
}

// hasPublicName reports whether the browser reaches the pages by a name that is theirs: an address, or localhost, belongs
// to other servers too, and browsers would demand https of all of them.
func (f *Frame) hasPublicName(w http.ResponseWriter, r *http.Request) bool {
	origin := f.Origin
	if origin == "" {
		origin = web.BaseURL(w, r)
	}
	if r.TLS != nil && !isPublicName((&url.URL{Host: r.Host}).Hostname()) { // the browser talks to this server itself
		return false
	}
	at, err := url.Parse(origin)
	return err == nil && isPublicName(at.Hostname())
}

func isPublicName(host string) bool {
	_, notAddress := netip.ParseAddr(host)
	return notAddress != nil && host != "localhost" && !strings.HasSuffix(host, ".localhost")
}

// cookieName is the name of one of our cookies on the wire. It begins with that of the service, because a browser sends a
// cookie to all ports of a host. Over https it has a prefix, for which browsers take the
// cookie from this host alone and over https alone; __Host- is for cookies of the whole host, so a path prefix has the
// weaker one. A session belongs to the scheme in which it began.
func (f *Frame) cookieName(w http.ResponseWriter, r *http.Request, name string) string {
	name = cmp.Or(f.Cookies, "countersign") + "_" + name
	switch {
	case !f.isSecure(w, r):
		return name
	case f.URL("/") == "/":
		return "__Host-" + name
	}
	return "__Secure-" + name
}

// cookieOf is the value of one of our cookies, "" without it.
func (f *Frame) cookieOf(w http.ResponseWriter, r *http.Request, name string) string {
	c, err := r.Cookie(f.cookieName(w, r, name))
	if err != nil {
		return ""
	}
	return c.Value
}

// setCookie writes one of our cookies. It lasts until the browser is closed when seconds is 0, and ends when they are
// negative.
func (f *Frame) setCookie(w http.ResponseWriter, r *http.Request, name, value string, seconds int) {
	http.SetCookie(w, &http.Cookie{
		Name: f.cookieName(w, r, name), Value: value, MaxAge: seconds, Path: f.URL("/"),
		Secure: f.isSecure(w, r), HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}
