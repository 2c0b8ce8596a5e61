package frame

import (
	"net/http"
	"net/url"

	"github.com/countersign/countersign/internal/people"
)

// security is the path of the user's password and two-step sign-in.
func (f *Frame) security() string { return f.Account + "/security" }

func (f *Frame) securityPage(r *Request, errs Errors) Page {
	return Page{Title: "Password and security", Body: securityView(f, r.User, errs),
		Lead: "Manage how you sign in."}
}

func (f *Frame) showSecurity(w http.ResponseWriter, r *Request) error {
	return f.Show(w, r, f.securityPage(r, nil))
}

func (f *Frame) changePassword(w http.ResponseWriter, r *Request) error {
	if !r.User.HasPassword {
		return f.choosePassword(w, r)
	}
	return f.Submit(w, r, Form{
		Check:  Required("old", "Type your current password.", "new", "Choose a new password."),
		Fields: []string{"old", "new"},
		Rules: []Rule{func(in url.Values) error {
			if in.Get("old") != "" { // both are checked together
				return nil
			}
			return people.CheckNewPassword(r.Actor.ID, "", in.Get("new"))
		}},
		Again: func(_ url.Values, wrong Errors) (Page, error) { return f.securityPage(r, wrong), nil },
		Do: func(in url.Values) error {
			user, err := f.People.ChangePassword(r.Context(), r.Actor, r.Session, in.Get("old"), in.Get("new"))
			if err != nil {
				return err
			}
			return f.Welcome(w, r, user, f.security(), "The password was changed. You are signed out everywhere else.")
		},
	})
}

// choosePassword sets the password of somebody who has none and signed in by a link.
func (f *Frame) choosePassword(w http.ResponseWriter, r *Request) error {
	return f.Submit(w, r, Form{
		Check: Required("new", "Choose a password."),
		About: map[string]string{"password": "new"},
		Again: func(_ url.Values, wrong Errors) (Page, error) { return f.securityPage(r, wrong), nil },
		Do: func(in url.Values) error {
			user, err := f.People.ChoosePassword(r.Context(), r.Actor, r.Session, in.Get("new"))
			if err != nil {
				return err
			}
			return f.Welcome(w, r, user, f.Home, "The password is set. You sign in with it from now on.")
		},
	})
}

func (f *Frame) totpPage(view totpSetup) Page {
	return Page{Title: "Turn on two-step sign-in", Body: totpView(f, view), Crumbs: f.securityCrumbs()}
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

// askPassword asks for the password before a change of the two-step sign-in.
func (f *Frame) askPassword(w http.ResponseWriter, r *Request, c Confirm, do func(password string) error) error {
	c.Crumbs, c.Cancel, c.Fields, c.Form = f.securityCrumbs(), f.security(), []Field{PasswordField(nil)}, WithPassword(do)
	return f.Ask(w, r, c)
}

func (f *Frame) beginTOTP(w http.ResponseWriter, r *Request) error {
	return f.askPassword(w, r, Confirm{
		Title:       "Turn on two-step sign-in",
		Consequence: "The next page shows a new secret for your authenticator app. Two-step sign-in is turned on after you type a code from that app.",
		Path:        f.security() + "/totp", Label: "Continue", Safe: true,
	}, func(password string) error {
		setup, err := f.People.BeginTOTP(r.Context(), r.Actor, password, f.Brand)
		if err != nil {
			return err
		}
		picture, err := QRCode(setup.URI)
		if err != nil {
			return err
		}
		return f.Show(w, r, f.totpPage(totpSetup{Secret: setup.Secret, QR: picture}))
	})
}

func (f *Frame) confirmTOTP(w http.ResponseWriter, r *Request) error {
	return f.Submit(w, r, Form{
		Check: Required("code", "Type the six digits that the app shows."),
		About: codeField,
		Again: func(_ url.Values, wrong Errors) (Page, error) { return f.totpPage(totpSetup{Errors: wrong}), nil },
		Do: func(in url.Values) error {
			user, codes, err := f.People.ConfirmTOTP(r.Context(), r.Actor, r.Session, in.Get("code"))
			if err != nil {
				return err
			}
			if err := f.begin(r, user); err != nil {
				return err
			}
			return f.showCodes(w, r, codes, "Two-step sign-in is on. You are signed out everywhere else.")
		},
	})
}

// showCodes shows recovery codes, once: they are nowhere else to be read.
func (f *Frame) showCodes(w http.ResponseWriter, r *Request, codes []string, done string) error {
	return f.Show(w, r, Page{Title: "Your recovery codes", Crumbs: f.securityCrumbs(), Body: codesView(f, codes, done)})
}

func (f *Frame) disableTOTP(w http.ResponseWriter, r *Request) error {
	return f.askPassword(w, r, Confirm{
		Title:       "Turn off two-step sign-in",
		Consequence: "You then sign in with the password alone, and the recovery codes stop working. You are signed out everywhere else.",
		Path:        f.security() + "/totp/off", Label: "Turn it off",
	}, func(password string) error {
		user, err := f.People.DisableTOTP(r.Context(), r.Actor, r.Session, password)
		if err != nil {
			return err
		}
		return f.Welcome(w, r, user, f.security(), "Two-step sign-in is off. You are signed out everywhere else.")
	})
}

func (f *Frame) newCodes(w http.ResponseWriter, r *Request) error {
	return f.askPassword(w, r, Confirm{
		Title:       "New recovery codes",
		Consequence: "Ten new codes are created and shown once. Your current codes stop working.",
		Path:        f.security() + "/codes", Label: "Create new codes",
	}, func(password string) error {
		codes, err := f.People.NewRecoveryCodes(r.Context(), r.Actor, password)
		if err != nil {
			return err
		}
		return f.showCodes(w, r, codes, "New codes were created.")
	})
}
