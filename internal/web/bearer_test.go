package web

import "testing"

func TestBearerToken(t *testing.T) {
	for value, want := range map[string]string{
		"Bearer abc": "abc", "bearer abc": "abc", "BEARER  abc ": "abc", " Bearer abc": "abc",
		"Basic abc": "", "Bearer": "", "Bearerabc": "", "": "",
	} {
		if got := BearerToken(value); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}
