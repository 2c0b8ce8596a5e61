package frame

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/fault"
)

// Form is a form that a page posts. What it asks for is done, or its page is
// shown again with what was typed and what is wrong. [FormView] is how it looks.
type Form struct {
	// Check finds what is wrong before a service is asked, usually [Required]; nil
	// finds nothing.
	Check func(in url.Values) Errors
	// Rules find what else is wrong without writing anything. What they refuse is told together with what Check finds.
	Rules []Rule
	// Do does what the form asks for and writes the answer, usually by
	// [Frame.Redirect] with a flash. It has written nothing when it returns an error.
	Do func(in url.Values) error
	// Fields are the names of the fields from top to bottom, for [FormErrors].
	Fields []string
	// About names the field that a refusal is about, by the refusal's code or by
	// that code's part before the first "_".
	About map[string]string
	// NextSteps are what to do about refusals, by their codes, in place of [Frame.WithNextStep].
	NextSteps fault.NextSteps
	// Explain turns a refusal into errors of the form. It reports false for one that
	// does not belong to the form; nil is [FormErrors] with About and Fields.
	Explain func(refused error) (Errors, bool)
	// Again is the page with the form as it was sent.
	Again func(in url.Values, wrong Errors) (Page, error)
}

// Rule refuses a form, or returns nil.
type Rule = func(in url.Values) error

// Submit answers a posted form. An error that does not belong to the form is returned.
func (f *Frame) Submit(w http.ResponseWriter, r *Request, form Form) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	wrong, refused := f.check(form, in)
	if wrong == nil {
		if refused == nil {
			refused = form.Do(in)
		}
		if refused == nil {
			return nil
		}
		var explained bool
		if wrong, explained = form.explain(f.withNextStep(form.NextSteps, refused)); !explained {
			return refused
		}
	}
	page, err := form.Again(in, wrong)
	if err != nil {
		return err
	}
	return f.Refuse(w, r, page, refused)
}

// check finds what is wrong before anything is done. refused is what the first rule refused, or a fault of ours without
// wrong.
func (f *Frame) check(form Form, in url.Values) (wrong Errors, refused error) {
	if form.Check != nil {
		wrong = form.Check(in)
	}
	for _, rule := range form.Rules {
		err := rule(in)
		if err == nil {
			continue
		}
		more, explained := form.explain(f.withNextStep(form.NextSteps, err))
		if !explained || len(more) == 0 {
			return nil, err
		}
		for _, one := range more {
			if one.Name == "" || wrong.Of(one.Name) == "" {
				wrong = append(wrong, one)
			}
		}
		refused = cmp.Or(refused, err)
	}
	slices.SortStableFunc(wrong, func(a, b FieldError) int {
		return cmp.Compare(slices.Index(form.Fields, a.Name), slices.Index(form.Fields, b.Name))
	})
	return wrong, refused
}

func (form Form) explain(refused error) (Errors, bool) {
	if form.Explain != nil {
		return form.Explain(refused)
	}
	if apiErr := fault.Of(refused); apiErr != nil {
		prefix, _, _ := strings.Cut(apiErr.Code, "_")
		for _, code := range []string{apiErr.Code, prefix} {
			if field, ok := form.About[code]; ok {
				return FormErrors(fault.At(field, apiErr), form.Fields...)
			}
		}
	}
	return FormErrors(refused, form.Fields...)
}

// Refuse shows the page of a form again because of err, nil when something was
// missing. The status is 422, or what err says, unless the page has one.
func (f *Frame) Refuse(w http.ResponseWriter, r *Request, p Page, err error) error {
	if p.Status == 0 {
		p.Status = FormStatus(err)
	}
	if apiErr := fault.Of(err); apiErr != nil {
		setReason(w.Header(), apiErr)
	}
	return f.Show(w, r, p)
}

// Required finds the named fields that are empty. Names and what to say take turns.
func Required(namesAndTexts ...string) func(url.Values) Errors {
	return func(in url.Values) (wrong Errors) {
		for i := 0; i < len(namesAndTexts); i += 2 {
			if strings.TrimSpace(in.Get(namesAndTexts[i])) == "" {
				wrong = append(wrong, FieldError{Name: namesAndTexts[i], Text: namesAndTexts[i+1]})
			}
		}
		return wrong
	}
}

// WithPassword is the form of a [Confirm] that asks somebody who is signed in for the
// password again, in a [PasswordField].
func WithPassword(do func(password string) error) Form {
	return Form{
		Check: Required("password", "Type your password."),
		Do:    func(in url.Values) error { return do(in.Get("password")) },
		About: map[string]string{"password": "password"},
	}
}

// PasswordRule checks the password that somebody who is signed in typed into a [PasswordField]. An empty one is for
// [Form.Check] to find.
func (f *Frame) PasswordRule(r *Request) Rule {
	return func(in url.Values) error {
		if in.Get("password") == "" {
			return nil
		}
		return fault.At("password", f.People.CheckPassword(r.Context(), r.Actor, in.Get("password")))
	}
}

// PasswordField asks somebody who is signed in for the password again.
func PasswordField(wrong Errors) Field {
	return Field{Name: "password", Label: "Your password", Kind: Password, Autocomplete: "current-password", Required: true, Error: wrong.Of("password")}
}
