package countersign

import (
	"fmt"
	"strconv"
	"strings"
)

// Money is an amount in hundredths of its currency's unit: 4900 is 49.00. Arithmetic on it is exact.
type Money int64

// ParseMoney reads a decimal amount with at most two decimals: "49", "49.5", "49.00", "-1.25". It refuses what a JSON
// number can't be ("+1", "049", ".5", "1."), exponents, finer amounts and amounts that Money can't hold.
func ParseMoney(s string) (Money, error) {
	digits, negative := strings.CutPrefix(s, "-")
	whole, fraction, point := strings.Cut(digits, ".")
	if !onlyDigits(whole) || len(whole) > 1 && whole[0] == '0' {
		return 0, fmt.Errorf("%q is not an amount", s)
	}
	if point && (!onlyDigits(fraction) || len(fraction) > 2) {
		return 0, fmt.Errorf("%q is not an amount with at most two decimals", s)
	}
	hundredths := whole + (fraction + "00")[:2]
	if negative {
		hundredths = "-" + hundredths
	}
	n, err := strconv.ParseInt(hundredths, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("the amount %q is too large", s)
	}
	return Money(n), nil
}

// onlyDigits reports whether s consists of one or more ASCII digits.
func onlyDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// String prints the amount with two decimals and without a currency: "49.00".
func (m Money) String() string {
	return string(m.Append(nil))
}

// Append appends the amount to b as JSON prints it: a number with two decimals.
func (m Money) Append(b []byte) []byte {
	n := uint64(m)
	if m < 0 {
		b = append(b, '-')
		n = -n
	}
	b = strconv.AppendUint(b, n/100, 10)
	return append(b, '.', byte('0'+n/10%10), byte('0'+n%10))
}

// MarshalJSON prints a JSON number with two decimals (spec 2, conventions).
func (m Money) MarshalJSON() ([]byte, error) {
	return m.Append(nil), nil
}

// UnmarshalJSON reads a JSON number as [ParseMoney] does, also when it stands in quotes. A null changes nothing.
func (m *Money) UnmarshalJSON(b []byte) error {
	s := string(b)
	if s == "null" {
		return nil
	}
	if len(s) > 1 && s[0] == '"' {
		s = s[1 : len(s)-1]
	}
	parsed, err := ParseMoney(s)
	if err != nil {
		return err
	}
	*m = parsed
	return nil
}

// CurrencyDecimals is how many decimals amounts of a currency have by ISO 4217: 2 for most and for those that are not
// known. Amounts of all currencies are written with two here (spec 2, conventions); one that can't be is refused.
func CurrencyDecimals(currency string) int {
	switch currency {
	case "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND", "VUV", "XAF", "XOF", "XPF":
		return 0
	case "BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND":
		return 3
	}
	return 2
}

// In prints the amount with its currency and as many decimals as that has: "49.00 USD", "4900 JPY", "4.500 KWD".
// Without a currency it is "49.00".
func (m Money) In(currency string) string {
	text := m.String()
	switch decimals := CurrencyDecimals(currency); {
	case decimals == 0 && m%100 == 0:
		text = strings.TrimSuffix(text, ".00")
	case decimals == 3:
		text += "0"
	}
	return strings.TrimSuffix(text+" "+currency, " ")
}
