package addontest

import (
	"errors"
	"testing"

	"github.com/countersign/countersign"
)

// CodeOf is the code of an error, "" for none.
func CodeOf(err error) string {
	var e *countersign.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// WantError wants an error with a code, or none for "".
func WantError(t testing.TB, err error, code string) {
	t.Helper()
	switch {
	case code == "" && err != nil:
		t.Errorf("error %v, want none", err)
	case code != "" && CodeOf(err) != code:
		t.Errorf("error %v, want the code %s", err, code)
	}
}

// WantFields wants a refusal that is about exactly these names.
func WantFields(t testing.TB, err error, names ...string) *countersign.Error {
	t.Helper()
	var e *countersign.Error
	if !errors.As(err, &e) || e.Kind != countersign.KindInvalid {
		t.Fatalf("error %v, want a refusal of %q", err, names)
	}
	if len(e.Fields) != len(names) {
		t.Errorf("fields %v, want %q", e.Fields, names)
	}
	for _, name := range names {
		if e.Fields[name] == "" {
			t.Errorf("nothing is said about %s: %v", name, e.Fields)
		}
	}
	return e
}
