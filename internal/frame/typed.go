package frame

import (
	"context"
	"net/http"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
)

// What somebody typed into a form while the session ended survives the sign-in. A form
// carries a signed list of its fields that may be kept. Sent without a session, the values
// of these come back encrypted in a hidden field of the sign-in page, so that strangers
// fill no database. After the sign-in of the same user they wait in the session for the
// form's page, which shows them once. Nothing is sent by itself.
const (
	// fieldForm is the field with the signed list.
	fieldForm = "_form"
	// fieldTyped is the field of the sign-in page, and keyTyped the session's.
	fieldTyped = "typed"
	keyTyped   = "typed"
)

const (
	textLost   = "Nothing was saved: you are no longer signed in. Sign in to return to the page."
	textKept   = "Nothing was saved: you are no longer signed in. Sign in within 15 minutes to return to the form and what you typed. Passwords, keys and files are not kept."
	textFilled = "Nothing was saved yet. The form has what you typed before you signed in again, without passwords, keys and files. Check it and send it again."
	textGone   = "What was typed before this sign-in was not kept: it is another administrator's, or older than 15 minutes."
)

// formState is a form while it is rendered.
type formState struct {
	path   string
	fields []string
	// typed is what to fill in, nil for nothing.
	typed map[string][]string
}

type formKey struct{}

// withForm begins a form that is sent to a path.
func withForm(ctx context.Context, path string) context.Context {
	state := &formState{path: path}
	if r := requestOf(ctx); r != nil && r.typed.Form.Path == path {
		state.typed = r.typed.Values
	}
	return context.WithValue(ctx, formKey{}, state)
}

// typedField is a field with what was typed into it, if it is part of a form.
func typedField(ctx context.Context, f Field) Field {
	state, _ := ctx.Value(formKey{}).(*formState)
	if state == nil || !f.mayKeep() {
		return f
	}
	state.fields = append(state.fields, f.Name)
	if state.typed == nil {
		return f
	}
	sent, there := state.typed[f.Name]
	switch {
	case f.Kind == Switch:
		f.On = there
	case there && len(sent) > 0:
		f.Value = sent[0]
	}
	return f
}

// mayKeep reports whether the value may outlive the session.
func (f Field) mayKeep() bool {
	return f.Kind != Password && f.Kind != File && !f.Secret && !f.token && !f.ReadOnly
}

// signedForm is the text of the form that is rendered, "" before sign-in.
func signedForm(ctx context.Context) string {
	state, r := ctx.Value(formKey{}).(*formState), requestOf(ctx)
	if r == nil || r.User.ID == 0 {
		return ""
	}
	return r.frame.People.SignForm(r.User, people.Form{Page: r.page(), Path: state.path, Fields: state.fields})
}

// page is the path and query of the page with the form: the request's, or that of the page
// whose form is shown again.
func (r *Request) page() string {
	if r.Method == http.MethodPost {
		if f, ok := r.frame.People.FormOf(r.sentForm, r.URL.Path); ok {
			return f.Page
		}
		return r.URL.Path
	}
	return r.URL.RequestURI()
}

// askToSignIn answers a form that was sent without a session by the sign-in page.
func (f *Frame) askToSignIn(w http.ResponseWriter, r *Request) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	text, next := textLost, ""
	if form, ok := f.People.FormOf(r.sentForm, r.URL.Path); ok {
		next = form.Page
	}
	typed := f.People.KeepTyped(r.sentForm, r.URL.Path, in)
	if typed != "" {
		text = textKept
	}
	return f.Refuse(w, r, f.signInPage(signInForm{next: next, saved: typed, errs: Errors{{Text: text}}}), errSignedOut)
}

var errSignedOut = fault.New(countersign.KindUnauthorized, "sign_in_needed", "Nobody is signed in")

// welcomeBack begins the session of somebody who has signed in, and leads to the form
// whose values were kept, or to next.
func (f *Frame) welcomeBack(w http.ResponseWriter, r *Request, u people.User, next, typed string) error {
	if err := f.begin(r, u); err != nil {
		return err
	}
	if typed != "" {
		saved, ok := f.People.OpenTyped(u, typed)
		if ok {
			f.sessions.Put(r.Context(), keyTyped, typed)
			next = saved.Form.Page
		} else {
			f.sessions.Put(r.Context(), keyWarning, textGone)
		}
	}
	return f.Redirect(w, r, f.next(next), "")
}

// fillIn takes what was typed out of the session when its page is shown.
func (f *Frame) fillIn(r *Request) {
	saved := f.sessions.GetString(r.Context(), keyTyped)
	if saved == "" || r.Method != http.MethodGet {
		return
	}
	typed, ok := f.People.OpenTyped(r.User, saved)
	if ok && typed.Form.Page != r.page() {
		return
	}
	f.sessions.Remove(r.Context(), keyTyped)
	if ok {
		r.typed = typed
		f.sessions.Put(r.Context(), keyWarning, textFilled)
	}
}
