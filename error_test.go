package countersign

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/countersign/countersign/internal/expect"
)

func TestErrorText(t *testing.T) {
	tests := []struct {
		rule string
		err  *Error
		want string
	}{
		{"the message alone", &Error{Message: "Not found"}, "Not found"},
		{"the kind stands in for a missing message", &Error{Kind: KindTooLarge}, "too large"},
		{"an unknown kind counts as internal", &Error{Kind: 200}, "internal"},
		{
			"code, status and cause follow",
			&Error{Message: "Invalid request", Code: CodeKeyUnknown, Status: 401, Cause: io.EOF},
			"Invalid request (key_unknown, HTTP 401): EOF",
		},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			expect.Equalf(t, tt.err.Error(), tt.want, "Error()")
		})
	}
}

func TestErrorIsFoundThroughWrapping(t *testing.T) {
	err := fmt.Errorf("store: %w", &Error{Kind: KindUnavailable, Cause: io.ErrUnexpectedEOF})
	var apiErr *Error
	if !errors.As(err, &apiErr) || apiErr.Kind != KindUnavailable || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("neither the error nor its cause is found in %v", err)
	}
}

func TestKindHasOneStatus(t *testing.T) {
	statuses := map[Kind]int{
		KindInternal: 500, KindInvalid: 400, KindUnauthorized: 401, KindForbidden: 403, KindNotFound: 404,
		KindMethodNotAllowed: 405, KindConflict: 409, KindTooLarge: 413, KindUnsupportedType: 415, KindLimited: 429,
		KindUnavailable: 503, KindPrecondition: 412, KindNotAcceptable: 406, KindUnprocessable: 422, KindGone: 410, 200: 500,
	}
	for kind, status := range statuses {
		expect.Equalf(t, kind.Status(), status, "the status of %v", kind)
	}
	for status, kind := range map[int]Kind{
		400: KindInvalid, 404: KindNotFound, 410: KindGone, 418: KindInvalid, 422: KindUnprocessable, 429: KindLimited,
		500: KindInternal, 501: KindInternal, 502: KindUnavailable, 504: KindUnavailable, 530: KindInternal,
	} {
		expect.Equalf(t, kindOf(status), kind, "HTTP %d", status)
	}
}
