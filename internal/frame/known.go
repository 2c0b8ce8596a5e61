package frame

import (
	"net/http"

	"github.com/countersign/countersign/internal/people"
)

// knownCookie is the cookie of a browser in which somebody has signed in before. It
// outlives the session.
const knownCookie = "countersign_known"

// rememberBrowser lets the browser keep that the user has signed in with it.
func (f *Frame) rememberBrowser(w http.ResponseWriter, r *Request) {
	known := f.People.RememberBrowser(r.as, r.From.Known)
	if known != "" {
		f.setCookie(w, r.Request, knownCookie, known, int(people.KnownLife.Seconds()))
	}
}
