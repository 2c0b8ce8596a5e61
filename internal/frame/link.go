package frame

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/countersign/countersign/internal/fault"
)

func (f *Frame) linkPage(r *Request, wrong Errors) Page {
	return Page{Title: "Sign in by link", Bare: true, Body: linkView(f, r.User, wrong), Scripts: []string{"link.js"},
		Lead: "The link signs you in once, without a password, even after too many failed sign-ins."}
}

func (f *Frame) showLink(w http.ResponseWriter, r *Request) error {
	return f.Show(w, r, f.linkPage(r, nil))
}

func (f *Frame) signInByLink(w http.ResponseWriter, r *Request) error {
	link := "create a new one with: " + f.Command + " user sign-in-link E-MAIL"
	return f.Submit(w, r, Form{
		Check:     Required("token", "Paste the link."),
		NextSteps: fault.NextSteps{"link_unknown": link, "link_used": link, "link_expired": link},
		About:     map[string]string{"link": "token"},
		Again:     func(_ url.Values, wrong Errors) (Page, error) { return f.linkPage(r, wrong), nil },
		Do: func(in url.Values) error {
			user, err := f.People.SignInByLink(r.Context(), r.From, TokenOf(in.Get("token")))
			if err != nil {
				return err
			}
			if !user.HasPassword {
				return f.Welcome(w, r, user, f.security(), "Welcome. Choose a password now: the link does not work a second time.")
			}
			return f.Welcome(w, r, user, f.Home, "")
		},
	})
}

// TokenOf takes the token from what was pasted: the whole link, or what stands
// behind its #.
func TokenOf(pasted string) string {
	if _, fragment, ok := strings.Cut(pasted, "#"); ok {
		pasted = fragment
	}
	return strings.TrimSpace(pasted)
}
