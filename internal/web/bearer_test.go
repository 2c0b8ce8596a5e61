package web

import (
	"testing"

	"github.com/countersign/countersign/internal/expect"
)

func TestBearerToken(t *testing.T) {
	for value, want := range map[string]string{
		"Bearer abc": "abc", "bearer abc": "abc", "BEARER  abc ": "abc", " Bearer abc": "abc",
		"Basic abc": "", "Bearer": "", "Bearerabc": "", "": "",
	} {
		expect.Equalf(t, BearerToken(value), want, "%q", value)
	}
}
