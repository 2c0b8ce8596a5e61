package transfer

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/countersign/countersign"
)

// The forms of an amount without its currency. Groups of three digits have one separator, which is
// not the decimal one.
var (
	amountParts = regexp.MustCompile(`^([^0-9.,'’ \-−]{0,4}) ?([-−]?) ?([^0-9.,'’ \-−]{0,4}) ?([0-9][0-9.,'’ ]*?) ?([^0-9.,'’ \-−]{0,4})$`)
	plainAmount = regexp.MustCompile(`^(?:0|[1-9][0-9]*)(?:[.,](?:[0-9]{1,2}|[0-9]{2}0{2,}))?$`)
	grouped     = regexp.MustCompile(`^[1-9][0-9]{0,2}(?:([.,'’ ])[0-9]{3})(?:[.,'’ ][0-9]{3})*(?:([.,])[0-9]{1,2})?$`)
)

// readMoney reads an amount of a currency, in units or if the file has those in its smallest coins,
// and the sign or code of a currency beside it, "" for none. What can be read in two ways is refused:
// 1,204 is another amount in another country.
func (in reading) readMoney(cell, currency string) (m countersign.Money, mark string, err error) {
	if cell == "" {
		return 0, "", nil
	}
	parts := amountParts.FindStringSubmatch(plainSpaces(cell))
	if parts == nil {
		return 0, "", fmt.Errorf("%q is not an amount like 49, 49.00 or 49,00", cell)
	}
	marks := slices.DeleteFunc([]string{parts[1], parts[3], parts[5]}, func(s string) bool { return s == "" })
	if len(marks) > 1 {
		return 0, "", fmt.Errorf("the amount %q has two currencies", cell)
	}
	if in.cents {
		m, err = smallestCoins(cell, parts[4], currency)
	} else {
		m, err = units(cell, parts[4], currency)
	}
	if parts[2] != "" {
		m = -m
	}
	return m, strings.Join(marks, ""), err
}

// units reads an amount in units of its currency.
func units(cell, text, currency string) (countersign.Money, error) {
	decimals := countersign.CurrencyDecimals(currency)
	if m := threeDecimals.FindStringSubmatch(text); m != nil && decimals == 3 {
		if text = m[1]; m[2] != "0" {
			return 0, fmt.Errorf("the amount %q has a third decimal; amounts are kept with two", cell)
		}
	}
	digits, err := plainDigits(cell, text)
	if err != nil {
		return 0, err
	}
	m, err := countersign.ParseMoney(digits)
	switch {
	case err != nil:
		return 0, fmt.Errorf("the amount %q is too large", cell)
	case decimals == 0 && m%100 != 0:
		return 0, fmt.Errorf("the amount %q has decimals, which %s does not have", cell, currency)
	}
	return m, nil
}

// smallestCoins reads an amount in the smallest coins of its currency, like cents.
func smallestCoins(cell, text, currency string) (countersign.Money, error) {
	m, err := countersign.ParseMoney(text)
	if err != nil || strings.Contains(text, ".") {
		return 0, fmt.Errorf("the amount %q is not a whole number of cents", cell)
	}
	switch countersign.CurrencyDecimals(currency) {
	case 0:
		return m, nil
	case 3:
		if m%1000 != 0 {
			return 0, fmt.Errorf("the amount %q has a third decimal; amounts are kept with two", cell)
		}
		return m / 1000, nil
	}
	return m / 100, nil
}

// threeDecimals is an amount of a currency with three decimals.
var threeDecimals = regexp.MustCompile(`^([0-9]{1,3}(?:[,'’ ]?[0-9]{3})*\.[0-9]{2})([0-9])$`)

// plainDigits are the digits of an amount with a decimal point.
func plainDigits(cell, text string) (string, error) {
	if plainAmount.MatchString(text) {
		text = strings.Replace(text, ",", ".", 1)
		if whole, decimals, ok := strings.Cut(text, "."); ok && len(decimals) > 2 {
			text = whole + "." + decimals[:2]
		}
		return text, nil
	}
	m := grouped.FindStringSubmatch(text)
	if m == nil {
		return "", fmt.Errorf("%q is not an amount like 49, 49.00 or 49,00", cell)
	}
	separator, decimal := m[1], m[2]
	groups := text
	if decimal != "" {
		groups = text[:strings.LastIndex(text, decimal)]
	}
	switch n := strings.Count(groups, separator); {
	case separator == decimal, strings.ContainsFunc(strings.ReplaceAll(groups, separator, ""), func(r rune) bool { return r < '0' || r > '9' }):
		return "", fmt.Errorf("%q is not an amount like 49, 49.00 or 49,00", cell)
	case n == 1 && decimal == "" && (separator == "." || separator == ","):
		return "", fmt.Errorf("the amount %q is ambiguous; write it without a separator of thousands, like 1204.00", cell)
	}
	return strings.ReplaceAll(groups, separator, "") + strings.Replace(text[len(groups):], ",", ".", 1), nil
}

// currencySigns are the currencies that a sign can stand for.
var currencySigns = map[string][]string{
	"€": {"EUR"}, "£": {"GBP", "EGP", "GIP"}, "¥": {"JPY", "CNY"}, "₹": {"INR"}, "₽": {"RUB"}, "₺": {"TRY"}, "₴": {"UAH"}, "₩": {"KRW"}, "₫": {"VND"},
	"₪": {"ILS"}, "₱": {"PHP"}, "฿": {"THB"}, "₦": {"NGN"}, "ZŁ": {"PLN"}, "KČ": {"CZK"}, "FT": {"HUF"}, "KR": {"SEK", "NOK", "DKK", "ISK"}, "KR.": {"DKK", "SEK", "NOK"},
	"FR": {"CHF"}, "FR.": {"CHF"}, "R$": {"BRL"}, "US$": {"USD"}, "A$": {"AUD"}, "AU$": {"AUD"}, "C$": {"CAD"}, "CA$": {"CAD"}, "NZ$": {"NZD"}, "S$": {"SGD"}, "HK$": {"HKD"},
	"$": {"USD", "AUD", "CAD", "NZD", "SGD", "HKD", "TWD", "MXN", "ARS", "CLP", "COP", "BRL"},
}

// setPrice reads the price of a sale: for each of its codes, or for all together.
func (l *purchaseLine) setPrice(cell string, in reading, each bool) (err error) {
	l.Price.Money, l.mark, err = in.readMoney(cell, l.Currency)
	l.sold.each, l.sold.priced = each, l.sold.priced || cell != ""
	return err
}

// setPrice reads one of the two prices of an item.
func (l *itemLine) setPrice(to *amount, cell string, in reading) error {
	m, mark, err := in.readMoney(cell, l.Currency)
	if err == nil && mark != "" && l.mark != "" && mark != l.mark {
		err = fmt.Errorf("the prices are in two currencies, %s and %s", l.mark, mark)
	}
	to.Money, l.mark = m, cmp.Or(mark, l.mark)
	return err
}

// checkCurrency is an error when an amount has the sign or code of another currency than its row.
func checkCurrency(mark, currency string) error {
	mark = strings.ToUpper(mark)
	if mark == "" || mark == currency || slices.Contains(currencySigns[mark], currency) {
		return nil
	}
	return badf("the amount is in %s, but the currency is %s", mark, currency)
}

// plainSpaces makes all kinds of spaces plain ones, and takes those around a text away.
func plainSpaces(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch r {
		case '\u00a0', '\u202f', '\u2009', '\t', '\n', '\r':
			return ' '
		}
		return r
	}, text))
}
