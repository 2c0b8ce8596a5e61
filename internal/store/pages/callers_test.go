package pages

import (
	"testing"

	"github.com/countersign/countersign/internal/expect"
)

func TestWhoUsesAKeyIsSaidInWords(t *testing.T) {
	six := []string{"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6"}
	for _, c := range []struct {
		callers callers
		want    string
	}{
		{callers{}, "No call in the last 24 hours is logged."},
		{callers{more: true}, "The search for calls in the last 24 hours stopped early and found none."},
		{callers{unknown: true}, "The log of calls can't be read at present."},
		{callers{calls: 1, addresses: six[:1]}, "In the last 24 hours: 1 call from 10.0.0.1."},
		{callers{calls: 1000, more: true, addresses: six[:2]}, "In the last 24 hours: more than 1,000 calls from 10.0.0.1, 10.0.0.2."},
		{callers{calls: 6, addresses: six}, "In the last 24 hours: 6 calls from 10.0.0.1, 10.0.0.2, 10.0.0.3, 10.0.0.4, 10.0.0.5 and 1 more address."},
		{callers{calls: 7, addresses: append(six, "10.0.0.7")}, "In the last 24 hours: 7 calls from 10.0.0.1, 10.0.0.2, 10.0.0.3, 10.0.0.4, 10.0.0.5 and 2 more addresses."},
	} {
		expect.Equalf(t, c.callers.String(), c.want, "%+v", c.callers)
	}
}
