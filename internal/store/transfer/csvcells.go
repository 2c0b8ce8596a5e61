package transfer

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/store/storedb"
)

type (
	timestamp = countersign.Timestamp
	texts     = countersign.List
	version   = countersign.Version
	kind      = storedb.Kind
)

// The setters of fields. An empty cell empties the field.

func text[L any](of func(*L) *string) func(*L, string) error {
	return func(l *L, cell string) error { *of(l) = cell; return nil }
}

func link[L any](of func(*L) **string) func(*L, string) error {
	return func(l *L, cell string) error {
		*of(l) = nil
		if cell != "" {
			*of(l) = &cell
		}
		return nil
	}
}

func currency[L any](of func(*L) *string) func(*L, string) error {
	return func(l *L, cell string) error { *of(l) = strings.ToUpper(cell); return nil }
}

func list[L any](of func(*L) *texts) func(*L, string) error {
	return func(l *L, cell string) error { *of(l) = readList(cell); return nil }
}

func number[L any](of func(*L) *int64) func(*L, string) error {
	return func(l *L, cell string) (err error) {
		if *of(l), err = strconv.ParseInt(cell, 10, 64); err != nil {
			return fmt.Errorf("%q is not a whole number", cell)
		}
		return nil
	}
}

func money[L any](of func(*L) *amount) func(*L, string) error {
	return func(l *L, cell string) (err error) { of(l).Money, err = readMoney(cell); return err }
}

func date[L any](of func(*L) *timestamp) func(*L, string) error {
	return func(l *L, cell string) error {
		at, err := readOptionalDate(cell)
		*of(l) = valueOf(at)
		return err
	}
}

func yesNo[L any](of func(*L) *bool) func(*L, string) error {
	return func(l *L, cell string) (err error) { *of(l), err = readYesNo(cell); return err }
}

var (
	plainAmount = regexp.MustCompile(`^-?[0-9]+([.,][0-9]{1,2})?$`)
	thousands   = regexp.MustCompile(`^-?[0-9]{1,3}([.,' ][0-9]{3})+([.,][0-9]{1,2})?$`)
)

// readMoney reads an amount with a decimal point or comma. What may be a separator of
// thousands is refused: 1,204 is another amount in another country.
func readMoney(cell string) (countersign.Money, error) {
	switch {
	case cell == "":
		return 0, nil
	case thousands.MatchString(cell) && !plainAmount.MatchString(cell):
		return 0, fmt.Errorf("the amount %q is ambiguous; write it without a separator of thousands, like 1204.00", cell)
	case !plainAmount.MatchString(cell):
		return 0, fmt.Errorf("%q is not an amount like 49, 49.00 or 49,00", cell)
	}
	return countersign.ParseMoney(strings.Replace(cell, ",", ".", 1))
}

// dateOrder finds dates whose day and month can't be told apart.
var dateOrder = regexp.MustCompile(`^[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{2,4}`)

// readOptionalDate reads the forms of [countersign.ParseTimestamp] and 2006-01-02, the beginning
// of that day in UTC. An empty cell is nil.
func readOptionalDate(cell string) (*timestamp, error) {
	text := cell
	switch {
	case cell == "":
		return nil, nil
	case len(cell) == len("2006-01-02"):
		text += "T00:00:00Z"
	case dateOrder.MatchString(cell):
		text = ""
	}
	at, err := countersign.ParseTimestamp(text)
	switch {
	case dateOrder.MatchString(cell):
		return nil, fmt.Errorf("the date %q is ambiguous; write it as 2024-04-27, with the year first", cell)
	case err != nil:
		return nil, fmt.Errorf("%q is not a date like 2024-04-27, 2024-04-27 12:00:00 or 2024-04-27T12:00:00Z", cell)
	}
	return &at, nil
}

func readYesNo(cell string) (bool, error) {
	switch strings.ToLower(cell) {
	case "yes", "true", "1":
		return true, nil
	case "no", "false", "0", "":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither yes nor no", cell)
}

// readState folds "Charged back" into charged_back.
func readState(cell string) storedb.State {
	return storedb.State(strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(cell)))
}

// readLicenseType takes "Regular License" for Regular, in any letter case.
func readLicenseType(cell string) string {
	folded := strings.TrimSuffix(strings.TrimSuffix(fold(cell), "license"), "licence")
	for _, known := range []string{countersign.LicenseRegular, countersign.LicenseExtended} {
		if folded == fold(known) {
			return known
		}
	}
	return cell
}

// readList splits a cell at bars and line breaks, or at commas when it has neither.
func readList(cell string) []string {
	ends := ","
	if strings.ContainsAny(cell, "|\n") {
		ends = "|\n"
	}
	list := []string{}
	for _, part := range strings.FieldsFunc(cell, func(r rune) bool { return strings.ContainsRune(ends, r) }) {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}
