package frame

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/countersign/countersign/internal/people"
)

// signInForm is what the sign-in page shows.
type signInForm struct {
	email, next string
	// saved is what was typed into a form before, as [people.People.KeepTyped] keeps it.
	saved string
	errs  Errors
}

func (f *Frame) signInPage(form signInForm) Page {
	form.next = f.next(form.next)
	return Page{Title: "Sign in", Bare: true, Body: signInView(f, form)}
}

func (f *Frame) showSignIn(w http.ResponseWriter, r *Request) error {
	if r.User.ID != 0 {
		return f.Redirect(w, r, f.Home, "")
	}
	ready, err := f.hasAdministrator(r)
	if err != nil {
		return err
	}
	if !ready {
		return f.Redirect(w, r, f.siblingPath("setup"), "")
	}
	return f.Show(w, r, f.signInPage(signInForm{next: r.URL.Query().Get("next")}))
}

func (f *Frame) signIn(w http.ResponseWriter, r *Request) error {
	return f.Submit(w, r, Form{
		Check: Required("email", "Type your e-mail.", "password", "Type your password."),
		Again: func(in url.Values, wrong Errors) (Page, error) {
			return f.signInPage(signInForm{in.Get("email"), in.Get("next"), in.Get(fieldTyped), wrong}), nil
		},
		Do: func(in url.Values) error {
			next := f.next(in.Get("next"))
			done, err := f.People.SignIn(r.Context(), r.From, in.Get("email"), in.Get("password"))
			if err != nil {
				return err
			}
			if !done.NeedsCode {
				return f.welcomeBack(w, r, done.User, next, in.Get(fieldTyped))
			}
			if err := f.awaitSecondFactor(r, done.User, next, in.Get(fieldTyped)); err != nil {
				return err
			}
			return f.Redirect(w, r, f.siblingPath("2fa"), "")
		},
	})
}

// awaitSecondFactor remembers a user whose password was right, until the code is.
func (f *Frame) awaitSecondFactor(r *Request, u people.User, next, saved string) error {
	if err := f.begin(r, people.User{}); err != nil {
		return err
	}
	f.sessions.Put(r.Context(), keyHalf, u.ID)
	f.sessions.Put(r.Context(), keyGeneration, u.Generation)
	f.sessions.Put(r.Context(), keyNext, next)
	if _, ok := f.People.OpenTyped(u, saved); ok {
		f.sessions.Put(r.Context(), keyTyped, saved)
	}
	return nil
}

func (f *Frame) codePage(errs Errors) Page {
	return Page{Title: "Enter your code", Bare: true, Body: codeView(f, errs),
		Lead: "Password accepted. Open the authenticator app and type the six digits it shows."}
}

func (f *Frame) showCode(w http.ResponseWriter, r *Request) error {
	if f.sessions.GetInt64(r.Context(), keyHalf) == 0 {
		return f.Redirect(w, r, f.SignIn, "")
	}
	return f.Show(w, r, f.codePage(nil))
}

func (f *Frame) signInCode(w http.ResponseWriter, r *Request) error {
	ctx := r.Context()
	half := people.User{ID: f.sessions.GetInt64(ctx, keyHalf), Generation: f.sessions.GetInt64(ctx, keyGeneration)}
	if half.ID == 0 {
		return f.toSignIn(w, r, noticeLate)
	}
	return f.Submit(w, r, Form{
		Check: Required("code", "Type the six digits, or a recovery code."),
		About: codeField,
		Again: func(_ url.Values, wrong Errors) (Page, error) { return f.codePage(wrong), nil },
		Do: func(in url.Values) error {
			if err := f.People.SignInCode(ctx, r.From, half.ID, in.Get("code")); err != nil {
				return err
			}
			return f.welcomeBack(w, r, half, f.sessions.GetString(ctx, keyNext), f.sessions.GetString(ctx, keyTyped))
		},
	})
}

// codeField is where refusals of an authenticator's code belong.
var codeField = map[string]string{"code": "code", "totp": "code"}

func (f *Frame) signOut(w http.ResponseWriter, r *Request) error {
	if err := f.endOwnSession(r); err != nil {
		return err
	}
	return f.toSignIn(w, r, noticeOut)
}

// endOwnSession ends the session of the request.
func (f *Frame) endOwnSession(r *Request) error {
	if f.sessions.Token(r.Context()) != "" { // a stranger has no session to end
		if err := f.sessions.Destroy(r.Context()); err != nil {
			return err
		}
	}
	r.as = people.User{}
	return nil
}

// Welcome begins the session of somebody who has signed in.
func (f *Frame) Welcome(w http.ResponseWriter, r *Request, u people.User, next, flash string) error {
	if err := f.begin(r, u); err != nil {
		return err
	}
	return f.Redirect(w, r, f.next(next), flash)
}

// next is the page that somebody wanted before signing in: a path of ours, or
// the start page.
func (f *Frame) next(path string) string {
	if !isOurs(path) || strings.HasPrefix(path, f.SignIn) {
		return f.Home
	}
	return path
}
