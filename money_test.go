package countersign

import (
	"encoding/json"
	"math"
	"math/big"
	"regexp"
	"testing"

	"github.com/countersign/countersign/internal/expect"
)

func TestParseMoney(t *testing.T) {
	tests := []struct {
		rule string
		in   string
		want Money
		fail bool
	}{
		{rule: "whole units need no decimals", in: "49", want: 4900},
		{rule: "one decimal means tens of hundredths", in: "49.5", want: 4950},
		{rule: "two decimals", in: "49.05", want: 4905},
		{rule: "less than one unit", in: "0.99", want: 99},
		{rule: "negative", in: "-1.25", want: -125},
		{rule: "negative, less than one unit", in: "-0.05", want: -5},
		{rule: "minus zero is zero", in: "-0.00", want: 0},
		{rule: "the largest amount", in: "92233720368547758.07", want: math.MaxInt64},
		{rule: "the smallest amount", in: "-92233720368547758.08", want: math.MinInt64},
		{rule: "one more than the largest is refused", in: "92233720368547758.08", fail: true},
		{rule: "empty is refused", in: "", fail: true},
		{rule: "a lone sign is refused", in: "-", fail: true},
		{rule: "plus is refused", in: "+1", fail: true},
		{rule: "leading zeros are refused", in: "049", fail: true},
		{rule: "doubled zero is refused", in: "00", fail: true},
		{rule: "a point needs digits before it", in: ".5", fail: true},
		{rule: "a point needs digits behind it", in: "1.", fail: true},
		{rule: "three decimals are refused, zeros too", in: "1.000", fail: true},
		{rule: "an exponent is refused", in: "1e2", fail: true},
		{rule: "a decimal comma is refused", in: "1,5", fail: true},
		{rule: "spaces are refused", in: " 1", fail: true},
		{rule: "digits of other scripts are refused", in: "٤٩", fail: true},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			got, err := ParseMoney(tt.in)
			if got != tt.want || (err != nil) != tt.fail {
				t.Errorf("ParseMoney(%q) = %d, %v", tt.in, got, err)
			}
		})
	}
}

func TestMoneyPrintsTwoDecimals(t *testing.T) {
	for m, want := range map[Money]string{
		0: "0.00", 5: "0.05", 99: "0.99", 100: "1.00", 4900: "49.00", 4950: "49.50",
		-5: "-0.05", -125: "-1.25", math.MaxInt64: "92233720368547758.07", math.MinInt64: "-92233720368547758.08",
	} {
		if got := m.String(); got != want {
			t.Errorf("Money(%d).String() = %q, want %q", int64(m), got, want)
		}
		if got, err := json.Marshal(m); string(got) != want || err != nil {
			t.Errorf("Money(%d) encodes as %s, %v, want the number %s", int64(m), got, err, want)
		}
	}
}

func TestMoneyHasTheDecimalsOfItsCurrency(t *testing.T) {
	for want, m := range map[string]struct {
		amount   Money
		currency string
	}{
		"49.00 USD": {4900, "USD"}, "49.00 XYZ": {4900, "XYZ"}, "49.00": {4900, ""}, "4900 JPY": {490000, "JPY"}, "-4900 JPY": {-490000, "JPY"},
		"49.50 JPY": {4950, "JPY"}, "4.500 KWD": {450, "KWD"}, "1200 CLP": {120000, "CLP"}, "1.20 HUF": {120, "HUF"},
	} {
		expect.Equal(t, m.amount.In(m.currency), want)
	}
}

func TestMoneyFromJSON(t *testing.T) {
	tests := []struct {
		rule string
		in   string
		want Money
		fail bool
	}{
		{rule: "a number", in: `49.00`, want: 4900},
		{rule: "a number in quotes", in: `"49.5"`, want: 4950},
		{rule: "null changes nothing", in: `null`, want: 1},
		{rule: "an exponent is refused", in: `4.9e1`, want: 1, fail: true},
		{rule: "empty quotes are refused", in: `""`, want: 1, fail: true},
		{rule: "another type is refused", in: `[1]`, want: 1, fail: true},
		{rule: "a boolean is refused", in: `true`, want: 1, fail: true},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			got := Money(1)
			err := json.Unmarshal([]byte(tt.in), &got)
			if got != tt.want || (err != nil) != tt.fail {
				t.Errorf("%s gives %d, %v", tt.in, got, err)
			}
		})
	}
}

var amount = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]{1,2})?$`)

func FuzzParseMoney(f *testing.F) {
	for _, s := range []string{"49", "49.5", "-0.05", "049", "1e2", "92233720368547758.08", "-92233720368547758.08", "1."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m, err := ParseMoney(s)
		if amount.MatchString(s) {
			exact, _ := new(big.Rat).SetString(s)
			hundredths := exact.Mul(exact, big.NewRat(100, 1)).Num()
			if hundredths.IsInt64() != (err == nil) || err == nil && hundredths.Int64() != int64(m) {
				t.Errorf("ParseMoney(%q) = %d, %v; exactly it is %v hundredths", s, m, err, hundredths)
			}
		} else if err == nil {
			t.Errorf("ParseMoney(%q) = %d, want an error", s, m)
		}
		if err != nil {
			return
		}
		if again, err := ParseMoney(m.String()); again != m || err != nil {
			t.Errorf("%q prints as %q, which reads as %d, %v", s, m, again, err)
		}
	})
}
