package frame

import "net/http"

// setupForm is what the set-up page asks for.
type setupForm struct {
	Token, Email string
	Errors       Errors
}

func (f *Frame) setupPage(form setupForm) Page {
	return Page{Title: "Set up " + f.Brand, Heading: "Create the first administrator", Bare: true, Wide: true, Scripts: []string{"link.js"},
		Lead: "One account is made now; it may do everything here.", Body: setupView(f, form)}
}

func (f *Frame) showSetup(w http.ResponseWriter, r *Request) error {
	exists, err := f.hasAdministrator(r)
	if err != nil {
		return err
	}
	if !f.installed() {
		return f.Show(w, r, Page{Title: "Run the update first", Bare: true, Wide: true, Body: installFirstView(f),
			Lead: "The program is here, but nothing is installed yet. The update makes the tables, the settings and the first API key."})
	}
	if exists {
		return f.Show(w, r, Page{Title: "Set up already", Bare: true, Body: setUpAlreadyView(f, r.User.ID != 0),
			Lead: "The first administrator was made, so the set-up link has done its work."})
	}
	return f.Show(w, r, f.setupPage(setupForm{}))
}

func (f *Frame) setup(w http.ResponseWriter, r *Request) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	form := setupForm{Token: tokenOf(in.Get("token")), Email: in.Get("email")}
	form.Errors = missing(in.Get, "token", "Paste the set-up link.", "email", "Type your e-mail.", "password", "Choose a password.")
	if form.Errors != nil {
		return f.refuse(w, r, f.setupPage(form), nil)
	}
	user, err := f.People.Setup(r.Context(), r.From, form.Token, form.Email, in.Get("password"))
	fields := map[string]string{"link": "token", "email": "email", "password": "password"}
	if errs, ok := FormErrors(aboutCode(f.WithNextStep(err), fields), "token", "email", "password"); ok {
		form.Errors = errs
		return f.refuse(w, r, f.setupPage(form), err)
	}
	if err != nil {
		return err
	}
	return f.welcome(w, r, user, f.Home, "Welcome. You are the administrator, and signed in.")
}
