package fault_test

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
)

func TestConstructorsTakeTheCodeFirst(t *testing.T) {
	for kind, create := range map[countersign.Kind]func(code, message string) *countersign.Error{
		countersign.KindInvalid: fault.Invalid, countersign.KindUnauthorized: fault.Unauthorized,
		countersign.KindForbidden: fault.Forbidden, countersign.KindNotFound: fault.NotFound,
		countersign.KindConflict: fault.Conflict, countersign.KindUnavailable: fault.Unavailable,
	} {
		if e := create("a_code", "A message"); e.Kind != kind || e.Code != "a_code" || e.Message != "A message" {
			t.Errorf("%s: %+v", kind, e)
		}
	}
	if e := fault.Limited("a_code", "A message", time.Second); e.Kind != countersign.KindLimited || e.RetryAfter != time.Second {
		t.Errorf("limited: %+v", e)
	}
}

func TestWithChangesACopy(t *testing.T) {
	e := fault.Conflict("a_code", "A message")
	with := fault.WithData(fault.WithFields(fault.WithRetry(fault.WithCause(e, io.EOF), time.Second), map[string]string{"a": "b"}), 7)
	if e.Cause != nil || e.RetryAfter != 0 || e.Fields != nil || e.Data != nil {
		t.Errorf("the error itself was changed: %+v", e)
	}
	if !errors.Is(with, io.EOF) || with.RetryAfter != time.Second || with.Fields["a"] != "b" || with.Data != 7 || with.Code != "a_code" {
		t.Errorf("%+v", with)
	}
}

func TestPredicatesLookIntoTheChain(t *testing.T) {
	err := fmt.Errorf("wrapped: %w", fault.NotFound("a_code", "A message"))
	if !fault.HasCode(err, "a_code") || fault.HasCode(err, "") || fault.HasCode(io.EOF, "a_code") || fault.HasCode(nil, "") {
		t.Error("HasCode")
	}
	if !fault.HasKind(err, countersign.KindNotFound) || fault.IsUnavailable(err) || fault.HasKind(io.EOF, countersign.KindInternal) {
		t.Error("HasKind")
	}
	if fault.Message(err) != "A message" || fault.Message(io.EOF) != "EOF" {
		t.Error("Message")
	}
}

func TestPublicHidesWhyAServiceIsUnavailable(t *testing.T) {
	for code, want := range map[string]string{
		countersign.CodeUnavailable: countersign.CodeUnavailable, countersign.CodeBusy: countersign.CodeBusy,
		countersign.CodeOutcomeUnknown: countersign.CodeOutcomeUnknown, "db_pooler": countersign.CodeUnavailable, "": countersign.CodeUnavailable,
	} {
		cause := fault.WithRetry(fault.Unavailable(code, "The disk is full"), 3*time.Second)
		got := fault.Of(fault.Public(cause))
		if got.Code != want || got.Message != countersign.MsgUnavailable || got.RetryAfter != cause.RetryAfter || !errors.Is(got, error(cause)) {
			t.Errorf("%q: %+v", code, got)
		}
	}
	for _, err := range []error{nil, io.EOF, fault.NotFound("a_code", "A message"), fault.Unavailable(fault.CodeUpdateNeeded, "An update is needed")} {
		if got := fault.Public(err); got != err {
			t.Errorf("%v became %v", err, got)
		}
	}
}

func TestTheNextStepStandsBehindTheMessage(t *testing.T) {
	steps := fault.NextSteps{"a_code": "do this"}
	err := fmt.Errorf("wrapped: %w", fault.WithRetry(fault.Conflict("a_code", "It failed."), time.Second))
	if got := fault.Of(steps.Add(err)); got.Message != "It failed; do this" || got.RetryAfter != time.Second || got.Code != "a_code" {
		t.Errorf("%+v", got)
	}
	for _, err := range []error{nil, io.EOF, fault.Conflict("another", "It failed")} {
		if got := steps.Add(err); got != err {
			t.Errorf("%v became %v", err, got)
		}
	}
	expect.Equal(t, fault.Join("It failed", ""), "It failed")
}
