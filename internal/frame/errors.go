package frame

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
)

// FieldError describes what is wrong with one answer of a form.
type FieldError struct {
	// Name of the field; "" when it is about the form as a whole.
	Name string
	// Text is a sentence that says what is wrong and what would be right.
	Text string
}

// Errors are the wrong answers of a form, in the order of its fields. The summary above the form lists them.
type Errors []FieldError

// Of returns the text for one field, "" when nothing is wrong with it.
func (e Errors) Of(name string) string {
	for _, one := range e {
		if one.Name == name {
			return one.Text
		}
	}
	return ""
}

// At returns all of them at one field, "" for the form as a whole.
func (e Errors) At(name string) Errors {
	for i := range e {
		e[i].Name = name
	}
	return e
}

// FormErrors turns the refusal of a rule into the errors of the form that was
// sent. order names the form's fields from top to bottom, and a refusal of
// another field then stands for the form as a whole; without an order, every
// field is the form's. It reports false for a nil error and
// for a fault of ours, which has nothing to do with the form: return such an error.
func FormErrors(err error, order ...string) (Errors, bool) {
	apiErr := fault.Of(err)
	if apiErr == nil || apiErr.Kind.Status() >= http.StatusInternalServerError {
		return nil, false
	}
	var all Errors
	for _, name := range order {
		if text := apiErr.Fields[name]; text != "" {
			all = append(all, FieldError{Name: name, Text: Sentence(text)})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(apiErr.Fields)) {
		switch {
		case len(order) == 0:
			all = append(all, FieldError{Name: name, Text: Sentence(apiErr.Fields[name])})
		case !slices.Contains(order, name):
			all = append(all, FieldError{Text: name + ": " + Sentence(apiErr.Fields[name])})
		}
	}
	if len(all) == 0 {
		text := Sentence(cmp.Or(apiErr.Message, "Request refused"))
		if !strings.Contains(text, "try again in ") { // some messages say it themselves
			text += wait(apiErr.RetryAfter)
		}
		all = Errors{{Text: text}}
	}
	return all, true
}

// WithNextStep returns err with what to do about it at the command line, for errors that only the operator can help with.
func (f *Frame) WithNextStep(err error) error {
	link := "create a new one with: " + f.Command + " setup-link"
	return fault.NextSteps{
		"link_unknown": link, "link_expired": link, "link_used": link,
		"last_administrator":   "add another administrator first",
		"update_token":         "create a token with: " + f.Command + " update --web-token",
		fault.CodeUpdateNeeded: "run: " + f.Command + " update",
	}.Add(err)
}

// withNextStep is WithNextStep with other steps, unless they are nil.
func (f *Frame) withNextStep(steps fault.NextSteps, err error) error {
	if steps != nil {
		return steps.Add(err)
	}
	return f.WithNextStep(err)
}

// wait returns how long to wait, "" when there is nothing to wait for.
func wait(d time.Duration) string {
	switch {
	case d <= 0:
		return ""
	case d <= 90*time.Second:
		return " Try again in " + Count(int((d+time.Second-1)/time.Second), "second") + "."
	default:
		return " Try again in " + Count(int((d+time.Minute-1)/time.Minute), "minute") + "."
	}
}

// FormStatus is the status of a form that is shown again because of err: 422
// for wrong input and for nil, and the error's own otherwise.
func FormStatus(err error) int {
	switch apiErr := fault.Of(err); {
	case err == nil:
		return http.StatusUnprocessableEntity
	case apiErr == nil:
		return http.StatusInternalServerError
	case apiErr.Kind == countersign.KindInvalid, apiErr.Kind == countersign.KindUnauthorized:
		// 401 would make a browser ask for a password of its own kind.
		return http.StatusUnprocessableEntity
	default:
		return apiErr.Kind.Status()
	}
}

// setReason says in the headers why a request was refused.
func setReason(h http.Header, refusal *countersign.Error) {
	if refusal.Code != "" {
		h.Set("X-Error-Code", refusal.Code)
	}
	retry := refusal.RetryAfter
	if refusal.Kind == countersign.KindUnavailable || refusal.Kind == countersign.KindLimited {
		retry = cmp.Or(retry, 5*time.Second)
	}
	if retry > 0 {
		h.Set("Retry-After", strconv.Itoa(int((retry+time.Second-1)/time.Second)))
	}
}
