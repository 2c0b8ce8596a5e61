// Package must ends a test at an error that it does not expect.
package must

import "testing"

// Do ends the test at an error.
func Do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Get returns a function that ends the test at the error, or else returns the value: must.Get(os.ReadFile(name))(t).
func Get[T any](value T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		Do(t, err)
		return value
	}
}
