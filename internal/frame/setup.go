package frame

import (
	"net/http"
	"net/url"

	"github.com/countersign/countersign/internal/people"
)

func (f *Frame) setupPage(in url.Values, wrong Errors) Page {
	return Page{Title: "Set up " + f.Brand, Heading: "Create the first administrator", Bare: true, Wide: true, Scripts: []string{"link.js"},
		Lead: "This creates the administrator account, which has full access.", Body: setupView(f, TokenOf(in.Get("token")), in.Get("email"), wrong)}
}

func (f *Frame) showSetup(w http.ResponseWriter, r *Request) error {
	exists, err := f.hasAdministrator(r)
	if err != nil {
		return err
	}
	if !f.installed() {
		return f.Show(w, r, Page{Title: "Run the update first", Bare: true, Wide: true, Body: installFirstView(f),
			Lead: "The addon is not set up yet. The update creates the tables, the settings and the first API credentials."})
	}
	if exists {
		return f.Show(w, r, f.setUpAlreadyPage(r))
	}
	return f.Show(w, r, f.setupPage(nil, nil))
}

func (f *Frame) setUpAlreadyPage(r *Request) Page {
	return Page{Title: "Setup is complete", Bare: true, Body: setUpAlreadyView(f, r.User.ID != 0),
		Lead: "The first administrator exists, so the set-up link is no longer needed."}
}

func (f *Frame) setup(w http.ResponseWriter, r *Request) error {
	return f.Submit(w, r, Form{
		Check: Required("token", "Paste the set-up link.", "email", "Type your e-mail.", "password", "Choose a password."),
		Rules: []Rule{
			func(in url.Values) error {
				if token := TokenOf(in.Get("token")); token != "" {
					return f.People.CheckSetupLink(r.Context(), token)
				}
				return nil
			},
			func(in url.Values) error { return people.CheckNew(in.Get("email"), in.Get("password")) },
		},
		Fields: []string{"token", "email", "password"},
		About:  map[string]string{"link": "token", "email": "email", "password": "password"},
		Again: func(in url.Values, wrong Errors) (Page, error) {
			exists, err := f.hasAdministrator(r)
			if exists { // somebody else was quicker, or the link was used again
				return f.setUpAlreadyPage(r), err
			}
			return f.setupPage(in, wrong), err
		},
		Do: func(in url.Values) error {
			user, err := f.People.Setup(r.Context(), r.From, TokenOf(in.Get("token")), in.Get("email"), in.Get("password"))
			if err != nil {
				return err
			}
			return f.Welcome(w, r, user, f.Home, "Welcome. You are the administrator, and signed in.")
		},
	})
}
