package transfer

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store/storedb"
)

// rowsOf reads a file and returns its rows with the lines on which they begin.
func rowsOf(t testing.TB, file string) (rows []string) {
	t.Helper()
	r := newCSVReader(strings.NewReader(file), "")
	must.Get(r.header())(t)
	for r.next() {
		cells, err := r.cells()
		if err != nil {
			cells = []string{err.Error()}
		}
		rows = append(rows, fmt.Sprintf("%d %q", r.line, cells))
	}
	if r.err != nil {
		t.Fatal(r.err)
	}
	return rows
}

func TestRowsAreFoundWithTheirLines(t *testing.T) {
	cases := []struct {
		name, file string
		want       []string
	}{
		{"commas", "a,b\n1,2\n", []string{`2 ["1" "2"]`}},
		{"semicolons with commas in cells", "a;b\n1,5;2\n", []string{`2 ["1,5" "2"]`}},
		{"tabs", "a\tb\n1\t\n", []string{`2 ["1" ""]`}},
		{"bars", "a|b\n1|2", []string{`2 ["1" "2"]`}},
		{"a separator within quotes does not count", "\"a,b,c\";d\n1;2\n", []string{`2 ["1" "2"]`}},
		{"one column", "a\n1\n", []string{`2 ["1"]`}},
		{"CRLF and empty lines", "a,b\r\n\r\n1,2\r\n", []string{`3 ["1" "2"]`}},
		{"a line break in the header", "\"a\nx\";b\n1;2\n", []string{`3 ["1" "2"]`}},
		{"line breaks and quotes in cells", "a,b\n\"1\r\n\"\"x\"\"\n\",2\n3,4\n", []string{`2 ["1\n\"x\"\n" "2"]`, `5 ["3" "4"]`}},
		{"a quote within a cell ends with its line", "a,b\n5\" pipe,2\n3,4\n", []string{`2 ["a quote is missing or not doubled"]`, `3 ["3" "4"]`}},
		{"a quote that does not end", "a,b\n\"1,2\n3,4\n", []string{`2 ["a quote is missing or not doubled in the row of the lines 2 to 3"]`}},
		{"not UTF-8", "a,b\n1,\xff\n3,4\n", []string{`2 ["the row is not valid UTF-8; save the file as UTF-8, or import it as Windows-1252, as which this row is copied"]`, `3 ["3" "4"]`}},
		{"a broken character of UTF-16", "\xff\xfea\x00\n\x00\x00\xd8\n\x00b\x00", []string{`2 ["the row is not valid UTF-16 LE; save the file as UTF-8"]`, `3 ["b"]`}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := rowsOf(t, c.file); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestAQuoteThatNeverEndsIsReadInBoundedMemory(t *testing.T) {
	file := "a,b\n\"1,2\n" + strings.Repeat("3,4\n", 4*maxLine/4)
	r := newCSVReader(strings.NewReader(file), "")
	must.Get(r.header())(t)
	if !r.next() {
		t.Fatal("no row")
	}
	if _, err := r.cells(); err == nil || !strings.Contains(err.Error(), "a quote may be missing") {
		t.Errorf("%v", err)
	}
	if r.line != 2 || cap(r.text) > 3*maxLine || r.next() {
		t.Errorf("line %d, %d bytes are held", r.line, cap(r.text))
	}
}

func TestCSVIsToldFromJSONLines(t *testing.T) {
	cases := []struct {
		name, text string
		want       bool
	}{
		{"a.CSV", "{}", true},
		{"a.tsv", "", true},
		{"a.jsonl", "a,b\n", false},
		{"stdin", "a,b\n1,2\n", true},
		{"stdin", "a\tb\n", true},
		{"stdin", "\xef\xbb\xbf{\"type\":\"item\",\"id\":1}\n", false},
		{"stdin", "\xff\xfea\x00,\x00", true},
		{"stdin", "\xff\xfe{\x00,\x00", false},
		{"stdin", "a\x00,\x00", true},
		{"stdin", "sep=;\na\n", true},
		{"stdin", "nonsense\n", false},
		{"stdin", "", false},
	}
	for _, c := range cases {
		got, err := IsCSV(strings.NewReader(c.text), c.name)
		if err != nil || got != c.want {
			t.Errorf("%s %q: %t, %v", c.name, c.text, got, err)
		}
	}
}

func TestCellsAreReadAndNeverGuessed(t *testing.T) {
	moneyOf := func(in reading, currency string) func(cell string) (string, error) {
		return func(cell string) (string, error) {
			m, currency, err := in.readMoney(cell, currency)
			return strings.TrimSpace(m.String() + " " + currency), err
		}
	}
	money := func(in reading) func(cell string) (string, error) { return moneyOf(in, "EUR") }
	date := func(in reading) func(cell string) (string, error) {
		return func(cell string) (string, error) {
			at, err := in.readDate(cell)
			return valueOf(at).String(), err
		}
	}
	read := map[string]func(cell string) (string, error){
		"money": money(reading{}), "cents": money(reading{cents: true}), "yen": moneyOf(reading{}, "JPY"), "yen coins": moneyOf(reading{cents: true}, "JPY"), "dinar": moneyOf(reading{}, "KWD"), "fils": moneyOf(reading{cents: true}, "KWD"),
		"date": date(reading{}), "dmy": date(reading{dates: DatesDayFirst}), "mdy": date(reading{dates: DatesMonthFirst}),
		"yes":     func(cell string) (string, error) { is, err := readYesNo(cell); return fmt.Sprint(is), err },
		"list":    func(cell string) (string, error) { return fmt.Sprintf("%q", readList(cell)), nil },
		"license": func(cell string) (string, error) { return readLicenseType(cell), nil },
		"state": func(cell string) (string, error) {
			state, err := reading{states: statesOf(map[string]storedb.State{"On vacation": StateSkipped, "paid": storedb.StateRevoked})}.readState(cell)
			return string(state), err
		},
	}
	cases := []struct{ kind, cell, want string }{
		{"money", "49", "49.00"}, {"money", "49.5", "49.50"}, {"money", "49,00", "49.00"}, {"money", "-1.25", "-1.25"}, {"money", "−1.25", "-1.25"}, {"money", "", "0.00"},
		{"money", "49.0000", "49.00"}, {"money", "49.1200", "49.12"}, {"money", "049", "not an amount"},
		{"money", "1,204.50", "1204.50"}, {"money", "1.204,50", "1204.50"}, {"money", "1'204.50", "1204.50"}, {"money", "1’204.50", "1204.50"}, {"money", "1 204,50", "1204.50"},
		{"money", "1\u00a0204,5", "1204.50"}, {"money", "1\u202f204", "1204.00"}, {"money", "1,204,000", "1204000.00"}, {"money", "1.204.000,10", "1204000.10"},
		{"money", "$49.00", "49.00 $"}, {"money", "49,00 €", "49.00 €"}, {"money", "EUR 49", "49.00 EUR"}, {"money", "49.00usd", "49.00 usd"}, {"money", "-$1,204.00", "-1204.00 $"}, {"money", "$-5", "-5.00 $"},
		{"money", "CHF 1'204.00", "1204.00 CHF"}, {"money", "R$ 10,00", "10.00 R$"},
		{"money", "1,204", "ambiguous"}, {"money", "1,200", "ambiguous"}, {"money", "49.000", "ambiguous"}, {"money", "1.204", "ambiguous"}, {"money", "0.123", "not an amount"},
		{"money", "49.001,5,0", "not an amount"}, {"money", "1,204.000", "not an amount"}, {"money", "1.204 000,00", "not an amount"}, {"money", "1.2345", "not an amount"}, {"money", "12,34,567.00", "not an amount"},
		{"money", "1e3", "not an amount"}, {"money", "free", "not an amount"}, {"money", "$", "not an amount"}, {"money", "--1", "not an amount"}, {"money", "USD 5 EUR", "two currencies"},
		{"money", "99999999999999999999", "too large"},
		{"cents", "4900", "49.00"}, {"cents", "5", "0.05"}, {"cents", "49.50", "not a whole number of cents"}, {"cents", "49.00", "not a whole number of cents"},
		{"yen", "4900", "4900.00"}, {"yen", "4,900.00", "4900.00"}, {"yen", "49.50", "has decimals, which JPY does not have"}, {"yen coins", "4900", "4900.00"},
		{"dinar", "4.500", "4.50"}, {"dinar", "1,204.500", "1204.50"}, {"dinar", "4.505", "third decimal"}, {"dinar", "4,500", "ambiguous"}, {"dinar", "4.5", "4.50"}, {"fils", "4500", "4.50"}, {"fils", "4505", "third decimal"},
		{"date", "2024-04-27", "2024-04-27T00:00:00Z"}, {"date", "2024-04-27 12:00:01", "2024-04-27T12:00:01Z"}, {"date", "2024-04-27 12:00", "2024-04-27T12:00:00Z"},
		{"date", "2024-04-27T12:00:00+02:00", "2024-04-27T10:00:00Z"}, {"date", "2024-04-27 12:00:00 +0200", "2024-04-27T10:00:00Z"}, {"date", "2024-04-27 12:00:00 -0530", "2024-04-27T17:30:00Z"},
		{"date", "2024-04-27 12:00:00 UTC", "2024-04-27T12:00:00Z"}, {"date", "2024-04-27T12:00:00.123Z", "2024-04-27T12:00:00Z"}, {"date", "", "0001-01-01T00:00:00Z"},
		{"date", "2024/04/27", "2024-04-27T00:00:00Z"}, {"date", "2024/4/7 9:05", "2024-04-07T09:05:00Z"}, {"date", "27.04.2024", "2024-04-27T00:00:00Z"}, {"date", "27/04/2024 18:30:11", "2024-04-27T18:30:11Z"},
		{"date", "04/27/2024 6:30 PM", "2024-04-27T18:30:00Z"}, {"date", "4/4/2024", "2024-04-04T00:00:00Z"}, {"date", "27 Apr 2024, 12:00 PM", "2024-04-27T12:00:00Z"}, {"date", "27 Apr 2024 12:30 am", "2024-04-27T00:30:00Z"},
		{"date", "Apr 27, 2024", "2024-04-27T00:00:00Z"}, {"date", "september 2, 2024", "2024-09-02T00:00:00Z"}, {"date", "27-Apr-2024", "2024-04-27T00:00:00Z"},
		{"date", "1714219200", "2024-04-27T12:00:00Z"}, {"date", "1714219200000", "2024-04-27T12:00:00Z"}, {"date", "\u00a02024-04-27", "2024-04-27T00:00:00Z"},
		{"date", "04.05.2024", "ambiguous"}, {"date", "04/05/2024 10:00", "ambiguous"}, {"dmy", "04/05/2024 10:00", "2024-05-04T10:00:00Z"}, {"mdy", "04/05/2024", "2024-04-05T00:00:00Z"},
		{"dmy", "04/27/2024", "does not exist"}, {"mdy", "27.04.2024", "does not exist"}, {"date", "2024-02-30", "does not exist"}, {"date", "29 Feb 2025", "does not exist"}, {"date", "13/13/2024", "does not exist"},
		{"date", "4-5-24", "four digits"}, {"date", "27.04.24", "four digits"}, {"date", "27 avril 2024", "not an English one"},
		{"date", "45000", "not a date"}, {"date", "2024-04-27 25:00", "not a date"}, {"date", "2024-04-27 13:00 PM", "not a date"}, {"date", "2024-04-27 12:00:00 CEST", "not a date"}, {"date", "2024-04-27 12:00 +1900", "not a date"},
		{"date", "2024-04.27", "not a date"}, {"date", "yesterday", "not a date"}, {"date", "0000-01-01", "not a date"},
		{"yes", "Yes", "true"}, {"yes", "1", "true"}, {"yes", "TRUE", "true"}, {"yes", "no", "false"}, {"yes", "", "false"}, {"yes", "x", "neither yes nor no"},
		{"list", "a, b", `["a" "b"]`}, {"list", "a, b|c", `["a, b" "c"]`}, {"list", "", "[]"},
		{"license", "Regular License", "Regular"}, {"license", "EXTENDED", "Extended"}, {"license", "Gold", "Gold"},
		{"state", "Charged back", "charged_back"}, {"state", "", "active"}, {"state", "wc-completed", "nobody has said"}, {"state", "COMPLETED", "active"}, {"state", "1", "active"}, {"state", "0", "revoked"},
		{"state", "Partially refunded", "active"}, {"state", "Fully Refunded", "refunded"}, {"state", "on-hold", "skip"}, {"state", "Cancelled", "skip"}, {"state", "on_vacation", "skip"}, {"state", "Paid", "revoked"},
		{"state", "processing", "nobody has said what \"processing\" means"},
	}
	for _, c := range cases {
		got, err := read[c.kind](c.cell)
		if err != nil {
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%s %q: %s, want %s", c.kind, c.cell, got, c.want)
		}
	}
}

func TestTheOrderOfDayAndMonthIsThatOfTheRowsThatHaveOne(t *testing.T) {
	for cells, want := range map[string]DateOrder{
		"":                                 DatesByRows,
		"04/05/2024 2024-04-27":            DatesByRows,
		"04/05/2024 27/04/2024":            DatesDayFirst,
		"04.27.2024 04.05.2024":            DatesMonthFirst,
		"27/04/2024 04/27/2024 04/05/2024": DatesByRows,
		"27/04/24 99/99/2024 27/13/2024":   DatesByRows,
	} {
		var seen seenDates
		for cell := range strings.FieldsSeq(cells) {
			seen.note(cell)
		}
		expect.Equalf(t, seen.order(), want, "%s", cells)
	}
}

// FuzzCells reads cells of anybody's making. What is read as a date or an amount is written and read again unchanged.
func FuzzCells(f *testing.F) {
	for _, cell := range []string{"1.204,50 €", "$-5", "1'204", "27 Apr 2024, 12:00 PM", "04/27/2024 6:30 PM", "2024-04-27 12:00:00 +0200", "1714219200", "Sept 1, 2024"} {
		f.Add(cell)
	}
	f.Fuzz(func(t *testing.T, cell string) {
		for _, in := range []reading{{}, {dates: DatesDayFirst, cents: true}, {dates: DatesMonthFirst}} {
			if at, err := in.readDate(cell); err == nil && at != nil {
				if again, err := in.readDate(at.String()); err != nil || !again.Equal(at.Time) {
					t.Errorf("%q is %s, and that %v, %v", cell, at, again, err)
				}
			}
			in.cents = false
			if m, currency, err := in.readMoney(cell, "EUR"); err == nil {
				if again, _, err := in.readMoney(currency+m.String(), "EUR"); err != nil || again != m {
					t.Errorf("%q is %s %s, and that %v, %v", cell, currency, m, again, err)
				}
			}
		}
	})
}

// FuzzCSV reads a file of anybody's making. What is read as cells is written and read
// again unchanged.
func FuzzCSV(f *testing.F) {
	for _, file := range []string{"a,b\n1,2\n", "\xef\xbb\xbfa;\"b\nc\"\r\n\"1\"\"\";=2\r\n", "\xff\xfea\x00\t\x00b\x00\n\x00", "\xfe\xff\x00a", "\"a", "a|b\n5\" pipe|x\n", "\n\n", "a,b;c\n"} {
		f.Add([]byte(file))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		r := newCSVReader(bytes.NewReader(file), "")
		_, err := r.header()
		for last := r.line; err == nil && r.next(); {
			if r.line <= last || r.lastLine < r.line || len(r.text) > maxLine+2 {
				t.Fatalf("row of the lines %d to %d after line %d, %d bytes", r.line, r.lastLine, last, len(r.text))
			}
			last = r.lastLine
			cells, err := r.cells()
			if err != nil || isEmpty(cells) {
				continue
			}
			cells = slices.Clone(cells)
			again := newCSVReader(bytes.NewReader(nil), "")
			again.separator, again.text = r.separator, rowOf(r.separator, cells)
			again.newParser()
			if got, err := again.cells(); err != nil || !slices.Equal(got, cells) || !utf8.Valid(again.text) {
				t.Fatalf("%q came back as %q, %v", cells, got, err)
			}
		}
	})
}
