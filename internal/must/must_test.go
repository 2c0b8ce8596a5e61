package must

import (
	"errors"
	"testing"
)

// ending notes with what a test was ended, in place of ending it.
type ending struct {
	testing.TB
	with []any
}

func (e *ending) Helper() {}

func (e *ending) Fatal(args ...any) { e.with = args }

func TestATestEndsAtAnErrorAlone(t *testing.T) {
	t.Parallel()
	fault := errors.New("fault")
	for _, want := range []error{nil, fault} {
		var done, got ending
		Do(&done, want)
		if value := Get(7, want)(&got); value != 7 {
			t.Errorf("got the value %d", value)
		}
		for _, e := range []ending{done, got} {
			if ended := len(e.with) == 1 && e.with[0] == any(want); ended != (want != nil) {
				t.Errorf("with %v the test ends with %v", want, e.with)
			}
		}
	}
}
