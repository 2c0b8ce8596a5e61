package frame_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/frame"
)

func TestRefusalsBecomeErrorsOfTheirFields(t *testing.T) {
	refused := func(fields map[string]string) error {
		return fmt.Errorf("set: %w", &countersign.Error{Kind: countersign.KindInvalid, Message: "Two settings are wrong", Fields: fields})
	}
	fields := map[string]string{"b": "B is wrong.", "a": "A is wrong."}
	cases := []struct {
		name  string
		err   error
		order []string
		want  frame.Errors
	}{
		{"in the order of the form", refused(fields), []string{"b", "a"}, frame.Errors{{Name: "b", Text: "B is wrong."}, {Name: "a", Text: "A is wrong."}}},
		{"a field that the form does not have stands for the whole", refused(fields), []string{"b"}, frame.Errors{{Name: "b", Text: "B is wrong."}, {Text: "a: A is wrong."}}},
		{"without an order every field is the form's", refused(fields), nil, frame.Errors{{Name: "a", Text: "A is wrong."}, {Name: "b", Text: "B is wrong."}}},
		{"what a field has to say ends as a sentence does", refused(map[string]string{"a": "A is wrong", "c": "C too"}), []string{"a"}, frame.Errors{{Name: "a", Text: "A is wrong."}, {Text: "c: C too."}}},
		{"a refusal without fields is about the whole", refused(nil), []string{"a"}, frame.Errors{{Text: "Two settings are wrong."}}},
		{"a limit says how long to wait", &countersign.Error{Kind: countersign.KindLimited, Message: "Too many tries", RetryAfter: 29500 * time.Millisecond}, nil, frame.Errors{{Text: "Too many tries. Try again in 30 seconds."}}},
		{"a long wait is told in minutes", &countersign.Error{Kind: countersign.KindLimited, Message: "Too many tries!", RetryAfter: 10 * time.Minute}, nil, frame.Errors{{Text: "Too many tries! Try again in 10 minutes."}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, ok := frame.FormErrors(c.err, c.order...)
			if diff := cmp.Diff(c.want, got); !ok || diff != "" {
				t.Errorf("%t %s", ok, diff)
			}
		})
	}
}

func TestFaultsOfOursAreNoErrorsOfAForm(t *testing.T) {
	for _, err := range []error{nil, errors.New("disk"), &countersign.Error{}, &countersign.Error{Kind: countersign.KindUnavailable, Message: "Down"}} {
		if got, ok := frame.FormErrors(err); ok {
			t.Errorf("%v became %v", err, got)
		}
	}
}

func TestFormsAreShownAgainWithTheStatusOfTheirRefusal(t *testing.T) {
	want := map[countersign.Kind]int{
		countersign.KindInvalid: http.StatusUnprocessableEntity, countersign.KindUnauthorized: http.StatusUnprocessableEntity,
		countersign.KindForbidden: http.StatusForbidden, countersign.KindConflict: http.StatusConflict,
		countersign.KindPrecondition: http.StatusPreconditionFailed, countersign.KindLimited: http.StatusTooManyRequests,
	}
	for kind, status := range want {
		expect.Equalf(t, frame.FormStatus(&countersign.Error{Kind: kind}), status, "%s", kind)
	}
	expect.Equalf(t, frame.FormStatus(errors.New("disk")), http.StatusInternalServerError, "a fault of ours")
}
