package frame

import (
	"net/http"
	"strings"
)

func (f *Frame) linkPage(token string, errs Errors) Page {
	return Page{Title: "Sign in by link", Bare: true, Body: linkView(f, token, errs), Scripts: []string{"link.js"},
		Lead: "The link signs you in once, without a password, also after too many failures."}
}

func (f *Frame) showLink(w http.ResponseWriter, r *Request) error {
	return f.Show(w, r, f.linkPage("", nil))
}

func (f *Frame) signInByLink(w http.ResponseWriter, r *Request) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	if errs := missing(in.Get, "token", "Paste the link."); errs != nil {
		return f.refuse(w, r, f.linkPage("", errs), nil)
	}
	user, err := f.People.SignInByLink(r.Context(), r.From, tokenOf(in.Get("token")))
	if errs, ok := FormErrors(about("token", f.WithNextStep(err))); ok {
		return f.refuse(w, r, f.linkPage("", errs), err)
	}
	if err != nil {
		return err
	}
	return f.welcome(w, r, user, f.Home, "")
}

// tokenOf takes the token from what was pasted: the whole link, or what stands
// behind its #.
func tokenOf(pasted string) string {
	if _, fragment, ok := strings.Cut(pasted, "#"); ok {
		pasted = fragment
	}
	return strings.TrimSpace(pasted)
}
