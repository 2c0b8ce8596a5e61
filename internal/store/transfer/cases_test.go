package transfer_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/store/transfer"
)

// The files in testdata/cases have the forms that shops, spreadsheets and people produce. The same file
// is read in the same way by a command and by the page of imports.
func TestFilesAsTheyAreFound(t *testing.T) {
	sold := func(code string) string {
		return "aaaaaaaa-0000-4000-8000-00000000000" + code
	}
	const noItem = " is neither the id nor the name of an item; say which item it is"
	cases := []struct {
		file string
		o    transfer.CSVOptions
		good string // codes, without what sold puts before them
		bad  map[int]string
		err  string
	}{
		{"shopify-orders.csv", transfer.CSVOptions{}, "SH-AAAA-BBBB-0001-CCCC", nil, ""},
		{"paypal-activity.csv", transfer.CSVOptions{}, "1AB23456CD789012E", map[int]string{3: "the row takes 49.00 EUR back and does not say of which sale"}, ""},
		{"woo-orders.csv", transfer.CSVOptions{Items: map[string]int64{"1229": 1229}}, "WC-AAAA-BBBB-0003 refunded", map[int]string{2: "the cell has 2 purchase codes; write a row for each, or have the row split"}, ""},
		{"woo-orders.csv", transfer.CSVOptions{Split: true, Items: map[string]int64{"1229": 1229}}, "WC-AAAA-BBBB-0001 WC-AAAA-BBBB-0002 WC-AAAA-BBBB-0003 refunded", nil, ""},
		{"payhip-sales.csv", transfer.CSVOptions{}, "ABCDE-FGHIJ-KLMNO-PQRST", nil, ""},
		{"csv-date-dmy-unambiguous.csv", transfer.CSVOptions{}, "1", nil, ""},
		{"csv-date-dots.csv", transfer.CSVOptions{}, "1", nil, ""},
		{"csv-date-utc-suffix.csv", transfer.CSVOptions{}, "1 2 3 4 5 6 7 8", map[int]string{10: `date: "20260427" is not a date`}, ""},
		{"csv-sep-hint.csv", transfer.CSVOptions{}, "1", nil, ""},
		{"csv-cr.csv", transfer.CSVOptions{}, "1 2", nil, ""},
		{"csv-utf16-nobom.csv", transfer.CSVOptions{}, "1", nil, ""},
		{"csv-cp1252.csv", transfer.CSVOptions{}, "", map[int]string{2: "the row is not valid UTF-8; save the file as UTF-8, or import it as Windows-1252"}, ""},
		{"csv-cp1252.csv", transfer.CSVOptions{Encoding: transfer.EncodingWindows1252}, "1", nil, ""},
		{"csv-short-rows.csv", transfer.CSVOptions{}, "", nil, `No field for "Note"`},
		{"csv-short-rows.csv", transfer.CSVOptions{IgnoreOthers: true}, "1 2", nil, ""},
		{"csv-long-rows.csv", transfer.CSVOptions{}, "1 2", nil, ""},
		{"csv-preamble.csv", transfer.CSVOptions{}, "", nil, "The names of the columns are on line 4. They have to be on the first: remove the lines before them"},
		{"csv-totals.csv", transfer.CSVOptions{}, "1", map[int]string{4: "item_id is missing"}, ""},
		{"csv-dup-header.csv", transfer.CSVOptions{}, "", nil, `The columns "Buyer Email" and "Email" are both buyer_email; ignore one of them`},
		{"csv-dup-header.csv", transfer.CSVOptions{Map: map[string]string{"Email": ""}}, "1", nil, ""},
		{"csv-quotes.csv", transfer.CSVOptions{}, "1 3", map[int]string{4: "a quote is missing or not doubled"}, ""},
		{"csv-nbsp-code.csv", transfer.CSVOptions{}, "1", map[int]string{3: `this one contains a typographic quotation mark`}, ""},
		{"csv-id-float.csv", transfer.CSVOptions{}, "", map[int]string{2: `"1229.0"` + noItem, 3: `"1,229"` + noItem, 4: `"#1229"` + noItem}, ""},
		{"csv-id-float.csv", transfer.CSVOptions{Items: map[string]int64{"1229.0": 1229, "1,229": 1229, "#1229": 1229}}, "1 2 3", nil, ""},
		{"jl-bom.jsonl", transfer.CSVOptions{}, "jl-code-bom-aaaa-bbbb-cccc", nil, ""},
		{"jl-crlf.jsonl", transfer.CSVOptions{}, "jl-code-crlf-aaaa-bbbb-cccc jl-code-crlf2-aaaa-bbbb-cccc", nil, ""},
		{"jl-utf16.jsonl", transfer.CSVOptions{}, "jl-code-u16-aaaa-bbbb-cccc", nil, ""},
		{"jl-array.json", transfer.CSVOptions{}, "", map[int]string{1: "this is an array of JSON; write one object on each line, without brackets around them and commas between them"}, ""},
		{"jl-trailing-comma.jsonl", transfer.CSVOptions{}, "jl-code-tc2-aaaa-bbbb-cccc", map[int]string{1: "write one object on each line, without commas between them"}, ""},
		{"jl-pretty.json", transfer.CSVOptions{}, "", map[int]string{1: "an object is on several lines; write each object on one line", 2: "", 3: "", 4: "", 5: "", 6: "", 7: "", 8: "", 9: "", 10: "an object is on several lines"}, ""},
		{"jl-cp1252.jsonl", transfer.CSVOptions{}, "", map[int]string{1: "invalid UTF-8"}, ""},
		{"jl-itemid-string.jsonl", transfer.CSVOptions{}, "", map[int]string{1: "item_id: unexpected JSON string"}, ""},
		{"jl-price-string.jsonl", transfer.CSVOptions{}, "", map[int]string{1: `price: an amount is a number, not "49.00"`}, ""},
		{"jl-unixdate.jsonl", transfer.CSVOptions{}, "", map[int]string{1: "date: a timestamp is a string"}, ""},
	}
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, storetest.Lines(storetest.ItemText("ada", 1229, `"name":"Shop Theme"`)))
		for _, c := range cases {
			text := must.Get(os.ReadFile(filepath.Join("testdata", "cases", c.file)))(t)
			var bad []storetest.Rejected
			o := transfer.ImportOptions{SkipBad: true, Bad: func(line int, reason string, _ []byte) {
				bad = append(bad, storetest.Rejected{Line: line, Reason: reason})
			}}
			if strings.HasSuffix(c.file, ".csv") {
				c.o.Workspace, o.CSV = "ada", &c.o
			}
			report, err := f.Transfer.Import(t.Context(), storetest.Operator, bytes.NewReader(text), o)
			if c.err != "" {
				if !strings.Contains(fault.Message(err), c.err) {
					t.Errorf("%s: %v, want %s", c.file, err, c.err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", c.file, err)
			}
			wantLines(t, bad, c.bad)
			var want []string
			for word := range strings.FieldsSeq(c.good) {
				switch {
				case len(word) == 1:
					want = append(want, sold(word)+" active")
				case word == "refunded":
					want[len(want)-1] = strings.Replace(want[len(want)-1], "active", word, 1)
				default:
					want = append(want, word+" active")
				}
			}
			if got := codesAndStates(t, f); got != strings.Join(want, " ") {
				t.Errorf("%s: %s, want %s", c.file, got, want)
			}
			if report.ID != 0 {
				if _, err := f.Transfer.Undo(t.Context(), storetest.Operator, report.ID, false); err != nil {
					t.Fatalf("%s: %v", c.file, err)
				}
			}
			onPage := rejectedOnPage(t, f, c.file, c.o, string(text))
			if got := fmt.Sprint(reasonsOf(bad)); onPage != got {
				t.Errorf("%s: the page says %s, the command %s", c.file, onPage, got)
			}
		}
	})
}

func reasonsOf(bad []storetest.Rejected) (all []string) {
	for _, b := range bad {
		all = append(all, b.Reason)
	}
	return all
}

// rejectedOnPage has a file tried as the page of imports does, and returns the reasons of rejected rows.
func rejectedOnPage(t *testing.T, f *storetest.Fixture, name string, o transfer.CSVOptions, text string) string {
	t.Helper()
	n := transfer.NewImport{File: name, Workspace: "ada", SkipBad: true, DryRun: true, CSV: o}
	upload := must.Get(f.Transfer.Upload(t.Context(), storetest.Operator, n, strings.NewReader(text)))(t)
	job := must.Get(f.Transfer.Confirm(t.Context(), storetest.Operator, upload, n))(t)
	storetest.RunJobs(t, f.Transfer.Queue())
	rows := must.Get(f.Transfer.Rejected(t.Context(), storetest.Operator, job, 100))(t)
	must.Do(t, f.Transfer.Discard(t.Context(), storetest.Operator, upload))
	var all []string
	for _, row := range rows {
		all = append(all, row.Reason)
	}
	return fmt.Sprint(all)
}
