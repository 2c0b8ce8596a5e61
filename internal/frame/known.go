package frame

import (
	"net/http"

	"github.com/countersign/countersign/internal/people"
)

// knownCookie is the cookie of a browser in which somebody has signed in before. It
// outlives the session.
const knownCookie = "countersign_known"

// knownOf is what the browser of a request keeps of earlier sign-ins.
func knownOf(r *http.Request) string {
	if c, err := r.Cookie(knownCookie); err == nil {
		return c.Value
	}
	return ""
}

// rememberBrowser lets the browser keep that the user has signed in with it.
func (f *Frame) rememberBrowser(w http.ResponseWriter, r *Request) {
	known := f.People.RememberBrowser(r.as, r.From.Known)
	if known == "" {
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: knownCookie, Value: known, MaxAge: int(people.KnownLife.Seconds()), Path: f.URL("/"), Secure: f.Secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}
