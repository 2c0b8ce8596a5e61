package transfer

import (
	"fmt"
	"slices"
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

// reading says how the cells of a file are read.
type reading struct {
	dates    DateOrder
	byColumn []DateOrder              // of the columns, where the rows decide
	cents    bool                     // amounts are in hundredths
	states   map[string]storedb.State // by folded words, as somebody has said it
	shop     map[string]storedb.State // by folded words, as the shop has them whose export the file is
	report   *CSVReport               // what was read, nil where nobody is told
}

// ofColumn reads the cells of one column.
func (in reading) ofColumn(i int) reading {
	if in.byColumn != nil {
		in.dates = in.byColumn[i]
	}
	return in
}

// ask notes a text of which nobody has said what it means.
func ask(list *[]string, text string) {
	if len(*list) < maxWords && !slices.ContainsFunc(*list, func(known string) bool { return itemKey(known) == itemKey(text) }) {
		*list = append(*list, text)
	}
}

// The setters of fields. An empty cell empties the field.

func text[L any](of func(*L) *string) func(*L, string, reading) error {
	return func(l *L, cell string, _ reading) error { *of(l) = cell; return nil }
}

func link[L any](of func(*L) **string) func(*L, string, reading) error {
	return func(l *L, cell string, _ reading) error {
		*of(l) = nil
		if cell != "" {
			*of(l) = &cell
		}
		return nil
	}
}

func currency[L any](of func(*L) *string) func(*L, string, reading) error {
	return func(l *L, cell string, _ reading) error { *of(l) = strings.ToUpper(cell); return nil }
}

func list[L any](of func(*L) *texts) func(*L, string, reading) error {
	return func(l *L, cell string, _ reading) error { *of(l) = readList(cell); return nil }
}

func number[L any](of func(*L) *int64) func(*L, string, reading) error {
	return func(l *L, cell string, _ reading) (err error) {
		if *of(l), err = strconv.ParseInt(cell, 10, 64); err != nil {
			return fmt.Errorf("%q is not a whole number", cell)
		}
		return nil
	}
}

func date[L any](of func(*L) *timestamp) func(*L, string, reading) error {
	return func(l *L, cell string, in reading) error {
		at, err := in.readDate(cell)
		*of(l) = valueOf(at)
		return err
	}
}

func optionalDate[L any](of func(*L) **timestamp) func(*L, string, reading) error {
	return func(l *L, cell string, in reading) (err error) { *of(l), err = in.readDate(cell); return err }
}

func yesNo[L any](of func(*L) *bool) func(*L, string, reading) error {
	return func(l *L, cell string, _ reading) (err error) { *of(l), err = readYesNo(cell); return err }
}

// except is for a column of yes and no that is remembered the other way round. An empty cell says nothing.
func except[L any](of func(*L) *bool) func(*L, string, reading) error {
	return func(l *L, cell string, _ reading) error {
		yes, err := readYesNo(cell)
		*of(l) = !yes && cell != ""
		return err
	}
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

// isNever reports whether a cell says that something has not happened.
func isNever(cell string) bool {
	yes, err := readYesNo(cell)
	return err == nil && !yes || strings.HasPrefix(cell, "0000-00-00") || slices.Contains([]string{"null", "none", "never", "-", "n/a"}, strings.ToLower(cell))
}

// readTest reads whether a sale was a test: yes or no, or a mode.
func readTest(cell string) (bool, error) {
	switch strings.ToLower(cell) {
	case "test", "sandbox":
		return true, nil
	case "live", "production":
		return false, nil
	}
	return readYesNo(cell)
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
