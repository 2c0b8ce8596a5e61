// Package expect reports values that a test did not expect, and goes on.
package expect

import (
	"fmt"
	"strings"
	"testing"
)

// Equal reports a value that is not the wanted one.
func Equal[T comparable](t testing.TB, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("got %s, want %s", shown(got), shown(want))
	}
}

// Equalf is [Equal] with words before the value: what it is, or what a wrong one would mean.
func Equalf[T comparable](t testing.TB, got, want T, format string, args ...any) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %s, want %s", fmt.Sprintf(format, args...), shown(got), shown(want))
	}
}

// NoError reports an error.
func NoError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// NoErrorf is [NoError] with words before the error.
func NoErrorf(t testing.TB, err error, format string, args ...any) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", fmt.Sprintf(format, args...), err)
	}
}

// shown is a value as a message has it: a line in quotes, and the beginning of what is longer.
func shown(value any) string {
	const longest = 10_000
	text := fmt.Sprintf("%+v", value)
	if _, ok := value.(string); ok && !strings.Contains(text, "\n") {
		text = fmt.Sprintf("%q", value)
	}
	if len(text) > longest {
		text = text[:longest] + "…"
	}
	return text
}
