package frame

import (
	"net/http"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
)

func (f *Frame) securityPage(r *Request, errs Errors) Page {
	return Page{Title: "Password and security", Body: securityView(f, r.User, errs),
		Lead: "How you prove that you are you."}
}

func (f *Frame) showSecurity(w http.ResponseWriter, r *Request) error {
	return f.Show(w, r, f.securityPage(r, nil))
}

func (f *Frame) changePassword(w http.ResponseWriter, r *Request) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	errs := missing(in.Get, "old", "Type the password you have now.", "new", "Choose a new password.")
	if errs != nil {
		return f.refuse(w, r, f.securityPage(r, errs), nil)
	}
	user, err := f.People.ChangePassword(r.Context(), r.Actor, r.Session, in.Get("old"), in.Get("new"))
	if errs, ok := FormErrors(aboutPassword(err)); ok {
		return f.refuse(w, r, f.securityPage(r, errs), err)
	}
	if err != nil {
		return err
	}
	if err := f.begin(r, user); err != nil {
		return err
	}
	return f.Redirect(w, r, f.security(), "The password was changed. You are signed out everywhere else.")
}

// aboutPassword names the field that a refusal of a change of password is about.
func aboutPassword(err error) error {
	if fault.HasCode(err, "password_wrong") {
		return about("old", err)
	}
	return aboutCode(err, map[string]string{"password": "new"})
}

func (f *Frame) totpPage(setup *people.TOTPSetup, errs Errors) (Page, error) {
	view := totpSetup{Errors: errs}
	if setup != nil {
		var err error
		if view.QR, err = QRCode(setup.URI); err != nil {
			return Page{}, err
		}
		view.Secret = setup.Secret
	}
	return Page{Title: "Turn on two-step sign-in", Body: totpView(f, view), Crumbs: f.securityCrumbs()}, nil
}

// totpSetup is what the page about a new authenticator shows. Secret and QR are
// "" after a wrong code, when the app has them already.
type totpSetup struct {
	Secret, QR string
	Errors     Errors
}

func (f *Frame) securityCrumbs() []Link {
	return []Link{{Label: "Password and security", Path: f.security()}}
}

func (f *Frame) totpOnPage(errs Errors) Page {
	return Page{Title: "Turn on two-step sign-in", Crumbs: f.securityCrumbs(), Body: Confirm{
		Consequence: "The next page shows a new secret for the app on your phone. Nothing changes before you have typed a code of that app.",
		Path:        f.security() + "/totp", Label: "Continue", Cancel: f.security(), Errors: errs, Fields: passwordAgain(errs), Safe: true,
	}}
}

func (f *Frame) showTOTPOn(w http.ResponseWriter, r *Request) error {
	return f.Show(w, r, f.totpOnPage(nil))
}

func (f *Frame) beginTOTP(w http.ResponseWriter, r *Request) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	if errs := missing(in.Get, "password", "Type your password."); errs != nil {
		return f.refuse(w, r, f.totpOnPage(errs), nil)
	}
	setup, err := f.People.BeginTOTP(r.Context(), r.Actor, in.Get("password"), f.Brand)
	if errs, ok := FormErrors(aboutCode(err, passwordField)); ok {
		return f.refuse(w, r, f.totpOnPage(errs), err)
	}
	if err != nil {
		return err
	}
	page, err := f.totpPage(&setup, nil)
	if err != nil {
		return err
	}
	return f.Show(w, r, page)
}

func (f *Frame) confirmTOTP(w http.ResponseWriter, r *Request) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	errs := missing(in.Get, "code", "Type the six digits that the app shows.")
	var user people.User
	var codes []string
	if errs == nil {
		user, codes, err = f.People.ConfirmTOTP(r.Context(), r.Actor, r.Session, in.Get("code"))
		errs, _ = FormErrors(about("code", err))
	}
	if errs != nil {
		page, failed := f.totpPage(nil, errs)
		if failed != nil {
			return failed
		}
		return f.refuse(w, r, page, err)
	}
	if err != nil {
		return err
	}
	if err := f.begin(r, user); err != nil {
		return err
	}
	return f.showCodes(w, r, codes, "Two-step sign-in is on. You are signed out everywhere else.")
}

// showCodes shows recovery codes, once: they are nowhere else to be read.
func (f *Frame) showCodes(w http.ResponseWriter, r *Request, codes []string, done string) error {
	return f.Show(w, r, Page{Title: "Your recovery codes", Crumbs: f.securityCrumbs(), Body: codesView(f, codes, done)})
}

func (f *Frame) totpOffPage(errs Errors) Page {
	return Page{Title: "Turn off two-step sign-in", Crumbs: f.securityCrumbs(), Body: Confirm{
		Consequence: "From then on the password alone signs you in, and the recovery codes stop working. You are signed out everywhere else.",
		Path:        f.security() + "/totp/off", Label: "Turn it off", Cancel: f.security(), Errors: errs, Fields: passwordAgain(errs),
	}}
}

func (f *Frame) showTOTPOff(w http.ResponseWriter, r *Request) error {
	return f.Show(w, r, f.totpOffPage(nil))
}

func (f *Frame) disableTOTP(w http.ResponseWriter, r *Request) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	if errs := missing(in.Get, "password", "Type your password."); errs != nil {
		return f.refuse(w, r, f.totpOffPage(errs), nil)
	}
	user, err := f.People.DisableTOTP(r.Context(), r.Actor, r.Session, in.Get("password"))
	if errs, ok := FormErrors(aboutCode(err, passwordField)); ok {
		return f.refuse(w, r, f.totpOffPage(errs), err)
	}
	if err != nil {
		return err
	}
	if err := f.begin(r, user); err != nil {
		return err
	}
	return f.Redirect(w, r, f.security(), "Two-step sign-in is off. You are signed out everywhere else.")
}

func (f *Frame) newCodesPage(errs Errors) Page {
	return Page{Title: "New recovery codes", Crumbs: f.securityCrumbs(), Body: Confirm{
		Consequence: "Ten new codes are made and shown once. The codes you have now stop working.",
		Path:        f.security() + "/codes", Label: "Make new codes", Cancel: f.security(), Errors: errs, Fields: passwordAgain(errs), Safe: true,
	}}
}

func (f *Frame) showNewCodes(w http.ResponseWriter, r *Request) error {
	return f.Show(w, r, f.newCodesPage(nil))
}

func (f *Frame) newCodes(w http.ResponseWriter, r *Request) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	if errs := missing(in.Get, "password", "Type your password."); errs != nil {
		return f.refuse(w, r, f.newCodesPage(errs), nil)
	}
	codes, err := f.People.NewRecoveryCodes(r.Context(), r.Actor, in.Get("password"))
	if errs, ok := FormErrors(aboutCode(err, passwordField)); ok {
		return f.refuse(w, r, f.newCodesPage(errs), err)
	}
	if err != nil {
		return err
	}
	return f.showCodes(w, r, codes, "New codes were made.")
}

var passwordField = map[string]string{"password": "password"}

// passwordAgain asks somebody who is signed in for the password.
func passwordAgain(errs Errors) []Field {
	return []Field{{Name: "password", Label: "Your password", Kind: Password, Autocomplete: "current-password", Required: true, Error: errs.Of("password")}}
}
