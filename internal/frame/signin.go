package frame

import (
	"net/http"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
)

// signInForm is what the sign-in page asks for.
type signInForm struct {
	Email  string
	Next   string
	Errors Errors
}

func (f *Frame) signInPage(form signInForm) Page {
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
		return f.Redirect(w, r, f.beside("setup"), "")
	}
	return f.Show(w, r, f.signInPage(signInForm{Next: f.next(r.URL.Query().Get("next"))}))
}

func (f *Frame) signIn(w http.ResponseWriter, r *Request) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	form := signInForm{Email: in.Get("email"), Next: f.next(in.Get("next"))}
	form.Errors = missing(in.Get, "email", "Type your e-mail.", "password", "Type your password.")
	if form.Errors != nil {
		return f.refuse(w, r, f.signInPage(form), nil)
	}
	done, err := f.People.SignIn(r.Context(), r.From, form.Email, in.Get("password"))
	if errs, ok := FormErrors(err); ok {
		form.Errors = errs
		return f.refuse(w, r, f.signInPage(form), err)
	}
	if err != nil {
		return err
	}
	if !done.NeedsCode {
		return f.welcome(w, r, done.User, form.Next, "")
	}
	if err := f.halfway(r, done.User, form.Next); err != nil {
		return err
	}
	return f.Redirect(w, r, f.beside("2fa"), "")
}

// halfway remembers a user whose password was right, until the code is.
func (f *Frame) halfway(r *Request, u people.User, next string) error {
	if err := f.begin(r, people.User{}); err != nil {
		return err
	}
	f.sessions.Put(r.Context(), keyHalf, u.ID)
	f.sessions.Put(r.Context(), keyGeneration, u.Generation)
	f.sessions.Put(r.Context(), keyNext, next)
	return nil
}

func (f *Frame) codePage(errs Errors) Page {
	return Page{Title: "Enter your code", Bare: true, Body: codeView(f, errs),
		Lead: "Your password was right. Open the authenticator app and type the six digits it shows."}
}

func (f *Frame) showCode(w http.ResponseWriter, r *Request) error {
	if f.sessions.GetInt64(r.Context(), keyHalf) == 0 {
		return f.Redirect(w, r, f.SignIn, "")
	}
	return f.Show(w, r, f.codePage(nil))
}

func (f *Frame) signInCode(w http.ResponseWriter, r *Request) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	ctx := r.Context()
	half := people.User{ID: f.sessions.GetInt64(ctx, keyHalf), Generation: f.sessions.GetInt64(ctx, keyGeneration)}
	if half.ID == 0 {
		return f.toSignIn(w, r, noticeLate)
	}
	if errs := missing(in.Get, "code", "Type the six digits, or a recovery code."); errs != nil {
		return f.refuse(w, r, f.codePage(errs), nil)
	}
	err = f.People.SignInCode(ctx, r.From, half.ID, in.Get("code"))
	if errs, ok := FormErrors(about("code", err)); ok {
		return f.refuse(w, r, f.codePage(errs), err)
	}
	if err != nil {
		return err
	}
	return f.welcome(w, r, half, f.sessions.GetString(ctx, keyNext), "")
}

func (f *Frame) signOut(w http.ResponseWriter, r *Request) error {
	if f.sessions.Token(r.Context()) != "" { // a stranger has no session to end
		if err := f.sessions.Destroy(r.Context()); err != nil {
			return err
		}
	}
	r.as = people.User{}
	return f.toSignIn(w, r, noticeOut)
}

// welcome begins the session of somebody who has signed in.
func (f *Frame) welcome(w http.ResponseWriter, r *Request, u people.User, next, flash string) error {
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

// refuse shows a form again because of err, nil when something was missing.
func (f *Frame) refuse(w http.ResponseWriter, r *Request, p Page, err error) error {
	p.Status = http.StatusUnprocessableEntity
	if err != nil {
		p.Status = FormStatus(err)
	}
	if ours := fault.Of(err); ours != nil {
		setReason(w.Header(), ours)
	}
	return f.Show(w, r, p)
}

// missing gives an error for each named field that is empty. Names and texts
// take turns.
func missing(get func(string) string, namesAndTexts ...string) (all Errors) {
	for i := 0; i < len(namesAndTexts); i += 2 {
		if strings.TrimSpace(get(namesAndTexts[i])) == "" {
			all = append(all, FieldError{Name: namesAndTexts[i], Text: namesAndTexts[i+1]})
		}
	}
	return all
}

// about says which field a refusal is about, unless it is about waiting or
// already says so.
func about(field string, err error) error {
	ours := fault.Of(err)
	if ours == nil || ours.Fields != nil || ours.Kind == countersign.KindLimited || ours.Kind.Status() >= http.StatusInternalServerError {
		return err
	}
	named := *ours
	named.Fields = map[string]string{field: sentence(ours.Message)}
	return &named
}

// aboutCode names the field by the beginning of the refusal's code, for example
// "email" for "email_taken".
func aboutCode(err error, fields map[string]string) error {
	if ours := fault.Of(err); ours != nil {
		prefix, _, _ := strings.Cut(ours.Code, "_")
		if field, ok := fields[prefix]; ok {
			return about(field, err)
		}
	}
	return err
}
