package cli

import (
	"strings"
	"testing"
	"time"
)

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
		got, err := ParseDate(text)
		if (err == nil) != (want != "") || err == nil && Second(got) != strings.TrimPrefix(want, "never") {
			t.Errorf("%q is %q, %v; want %q", text, Second(got), err, want)
		}
	}
}

func TestAges(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"365d": 365 * 24 * time.Hour, "1d": 24 * time.Hour, "720h": 720 * time.Hour, "90m": 90 * time.Minute,
		"": 0, "d": 0, "0d": 0, "-1d": 0, "1.5d": 0, "+1d": 0, "99999999999999d": 0, "-5h": 0, "0s": 0, "a year": 0,
	} {
		got, err := ParseAge(text)
		if (err == nil) != (want > 0) || got != want {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestAmountsHaveTwoDecimals(t *testing.T) {
	if got, err := ParseMoney("49.5"); got != 4950 || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := ParseMoney("1.230"); err == nil || !strings.Contains(err.Error(), "at most two decimals") {
		t.Errorf("three decimals: %v", err)
	}
}
