package web

import (
	"errors"
	"testing"
	"time"

	"github.com/countersign/countersign"
)

func TestWhatIsUnavailableSaysWhetherSomethingWasWritten(t *testing.T) {
	for code, want := range map[string]string{
		countersign.CodeUnavailable: countersign.CodeUnavailable, countersign.CodeBusy: countersign.CodeBusy,
		countersign.CodeOutcomeUnknown: countersign.CodeOutcomeUnknown, "db_pooler": countersign.CodeUnavailable, "": countersign.CodeUnavailable,
	} {
		cause := &countersign.Error{Kind: countersign.KindUnavailable, Code: code, Message: "The disk is full", RetryAfter: 3 * time.Second}
		got := Unavailable(cause, cause)
		if got.Code != want || got.Message != countersign.MsgUnavailable || got.RetryAfter != cause.RetryAfter || !errors.Is(got, error(cause)) {
			t.Errorf("%q: %+v", code, got)
		}
	}
}
