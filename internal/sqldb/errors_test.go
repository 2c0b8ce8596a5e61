package sqldb

import (
	"errors"
	"testing"

	"github.com/countersign/countersign"
)

func wantUnavailable(t testing.TB, err error) {
	t.Helper()
	var ours *countersign.Error
	if !errors.As(err, &ours) || ours.Kind != countersign.KindUnavailable {
		t.Errorf("error %v (%T), want one of kind Unavailable", err, err)
	} else if ours.RetryAfter <= 0 {
		t.Errorf("error %v does not say when to try again", err)
	}
}
