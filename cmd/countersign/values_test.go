package main

import "testing"

func TestDates(t *testing.T) {
	for text, want := range map[string]string{
		"2027-01-31":                "2027-01-31T00:00:00Z",
		"2027-01-31T12:30:00Z":      "2027-01-31T12:30:00Z",
		"2027-01-31T12:30:00+02:00": "2027-01-31T10:30:00Z",
		"never":                     "never",
		"2027-02-30":                "",
		"tomorrow":                  "",
		"":                          "",
		"2027-01-31 ":               "",
	} {
		var d dateValue
		if err := d.Set(text); (err == nil) != (want != "") || err == nil && d.String() != want {
			t.Errorf("%q is %q, %v; want %q", text, d.String(), err, want)
		}
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", 100000: "100,000"} {
		if got := thousands(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}
