package transfer_test

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/store/transfer"
	"github.com/google/go-cmp/cmp"
)

// utf16Text is a text in UTF-16 with a byte order mark.
func utf16Text(order binary.AppendByteOrder, text string) string {
	var out []byte
	for _, unit := range append([]uint16{0xfeff}, utf16.Encode([]rune(text))...) {
		out = order.AppendUint16(out, unit)
	}
	return string(out)
}

// utf32Text is a text in UTF-32 with a byte order mark.
func utf32Text(order binary.AppendByteOrder, text string) string {
	var out []byte
	for _, r := range "\ufeff" + text {
		out = order.AppendUint32(out, uint32(r))
	}
	return string(out)
}

const saleHeader = "Purchase Code,Item ID,License,Amount,Currency,Sale Date,Supported Until,Buyer,Buyer Email"

func TestCSVIsReadInEveryEncodingAndWithEverySeparator(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		rows := saleHeader + "\nCODE-%s,1,Regular License,\"49,00\",usd,2024-04-27,2025-04-27 12:00:00,\"Zoë\nLee\",zoe@x.example\n"
		forms := map[string]func(string) string{
			"plain": func(s string) string { return s }, "BOM": func(s string) string { return "\ufeff" + s },
			"CRLF":        func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
			"semicolons":  func(s string) string { return strings.NewReplacer("49,00", "49,00", ",", ";").Replace(s) },
			"tabs":        func(s string) string { return strings.NewReplacer("49,00", "49,00", ",", "\t").Replace(s) },
			"bars":        func(s string) string { return strings.NewReplacer("49,00", "49,00", ",", "|").Replace(s) },
			"LE":          func(s string) string { return utf16Text(binary.LittleEndian, s) },
			"BE":          func(s string) string { return utf16Text(binary.BigEndian, s) },
			"LE unmarked": func(s string) string { return utf16Text(binary.LittleEndian, s)[2:] },
			"BE unmarked": func(s string) string { return utf16Text(binary.BigEndian, s)[2:] },
			"32 LE":       func(s string) string { return utf32Text(binary.LittleEndian, s) },
			"32 BE":       func(s string) string { return utf32Text(binary.BigEndian, s)[4:] },
			"a hint":      func(s string) string { return "sep=;\r\n" + strings.NewReplacer("49,00", "49,00", ",", ";").Replace(s) },
		}
		for name, form := range forms {
			report, bad := f.ImportText(t, form(fmt.Sprintf(rows, name)), storetest.CSVInto("ada", nil))
			if len(bad) > 0 || !report.Written || report.Purchases.New != 1 {
				t.Fatalf("%s: %+v, %v", name, report, bad)
			}
			p := f.Purchase(t, "CODE-"+name)
			got := fmt.Sprintln(p.ItemID, p.License, p.Price, p.Currency, p.SoldAt, p.SupportedUntil, p.BuyerName, p.BuyerEmail)
			if want := "1 Regular 49.00 USD 2024-04-27T00:00:00Z 2025-04-27T12:00:00Z Zoë\nLee zoe@x.example\n"; got != want {
				t.Errorf("%s: %s", name, got)
			}
		}
	})
}

// A case of each kind of file that spreadsheets, shops and people make.
func TestRowsAsSpreadsheetsLeaveThem(t *testing.T) {
	const header = "code,item_id,license,price,currency,date,buyer\n"
	older := transfer.CSVOptions{Encoding: transfer.EncodingWindows1252}
	cases := []struct {
		name, file string
		o          transfer.CSVOptions
		want       string // the purchases by their codes
		bad        map[int]string
	}{
		{"cells are missing at the end, or too many and empty", header + "A,1,Regular,49,USD,2026-04-27\nB,1,Regular,49,USD,2026-04-27,Bea,,\nC,1,Regular,49,USD,2026-04-27,Cid,,x\n", transfer.CSVOptions{},
			"A 49.00 2026-04-27 , B 49.00 2026-04-27 Bea", map[int]string{4: "the row has 9 cells, the first line has 7"}},
		{"lines end as those of old programs", strings.ReplaceAll(header+"A,1,Regular,49,USD,2026-04-27,Ann\nB,1,Regular,49,USD,2026-04-27,Bea\n", "\n", "\r"), transfer.CSVOptions{},
			"A 49.00 2026-04-27 Ann, B 49.00 2026-04-27 Bea", nil},
		{"an older encoding", header + "A,1,Regular,49,USD,2026-04-27,J\xfcrgen\n", older, "A 49.00 2026-04-27 Jürgen", nil},
		{"a mark says more than the option", "\ufeff" + header + "A,1,Regular,49,USD,2026-04-27,Jürgen\n", older, "A 49.00 2026-04-27 Jürgen", nil},
		{"an older encoding that nobody names", header + "A,1,Regular,49,USD,2026-04-27,J\xfcrgen\n", transfer.CSVOptions{}, "", map[int]string{2: "save the file as UTF-8, or import it as Windows-1252"}},
		{"a later row shows the order of day and month", header + "A,1,Regular,49,USD,04/05/2026,\nB,1,Regular,49,USD,27/04/2026,\n", transfer.CSVOptions{}, "A 49.00 2026-05-04 , B 49.00 2026-04-27 ", nil},
		{"rows contradict each other on it", header + "A,1,Regular,49,USD,04/05/2026,\nB,1,Regular,49,USD,27/04/2026,\nC,1,Regular,49,USD,04/27/2026,\n", transfer.CSVOptions{},
			"B 49.00 2026-04-27 , C 49.00 2026-04-27 ", map[int]string{2: `date: the date "04/05/2026" is ambiguous`}},
		{"an amount in another currency than the row", header + "A,1,Regular,$49.00,USD,2026-04-27,\nB,1,Regular,€49,USD,2026-04-27,\nC,1,Regular,49 EUR,EUR,2026-04-27,\n", transfer.CSVOptions{},
			"A 49.00 2026-04-27 , C 49.00 2026-04-27 ", map[int]string{3: "the amount is in €, but the currency is USD"}},
		{"amounts in cents", header + "A,1,Regular,4900,USD,2026-04-27,\nB,1,Regular,49.50,USD,2026-04-27,\n", transfer.CSVOptions{Cents: true},
			"A 49.00 2026-04-27 ", map[int]string{3: "not a whole number of cents"}},
		{"columns of dates with orders of their own", strings.Replace(header, "buyer", "buyer,support_until", 1) + "A,1,Regular,49,USD,04/05/2026,Ann,04/27/2027\nB,1,Regular,49,USD,27/04/2026,Bea,04/05/2027\n", transfer.CSVOptions{},
			"A 49.00 2026-05-04 Ann, B 49.00 2026-04-27 Bea", nil},
		{"an order that another column shows", strings.Replace(header, "buyer", "buyer,support_until", 1) + "A,1,Regular,49,USD,04/05/2026,,27/04/2027\n", transfer.CSVOptions{},
			"", map[int]string{2: `date: the date "04/05/2026" is ambiguous`}},
		{"several faults of a row", header + "A,one,Regular,forty,USD,soon,\n", transfer.CSVOptions{}, "",
			map[int]string{2: `item_id: "one" is neither the id nor the name of an item; say which item it is; price: "forty" is not an amount like 49, 49.00 or 49,00; date: "soon" is not a date like`}},
		{"codes that a spreadsheet has changed", header + "1.00001E+11,1,Regular,49,USD,2026-04-27,\n\u00a0A\u200b,1,Regular,49,USD,2026-04-27,\n", transfer.CSVOptions{},
			"A 49.00 2026-04-27 ", map[int]string{2: "a spreadsheet has changed this code to 1.00001E+11; format the column as text"}},
		{"formulas", header + "=1+1,1,Regular,49,USD,2026-04-27,\n'=1+1,1,Regular,49,USD,2026-04-27,\nA,1,Regular,49,USD,2026-04-27,\"=HYPERLINK(\"\"x\"\")\"\nB,1,Regular,=A2,USD,2026-04-27,\n", transfer.CSVOptions{}, "",
			map[int]string{2: `purchase_code: "=1+1" is a formula of a spreadsheet; write its value`, 3: `"=1+1" is a formula of a spreadsheet, not a purchase code; write the code itself`, 4: "buyer_name: \"=HYPERLINK", 5: `price: "=A2" is a formula`}},
		{"texts that begin like formulas", header + "=\"00123\",1,Regular,49,USD,=\"2026-04-27\",=\"Lee, \"\n\"=\"\"00124\"\"\",1,Regular,49,USD,2026-04-27,\"=\"\"Z \"\"\"\"X\"\"\"\"\"\"\"\n+A-1,1,Regular,49,USD,2026-04-27,'=1+1\n'-B,1,Regular,49,USD,2026-04-27,-x\n@C,1,Regular,49,USD,2026-04-27,=)\n==D,1,Regular,49,USD,2026-04-27,\n", transfer.CSVOptions{},
			"+A-1 49.00 2026-04-27 =1+1, -B 49.00 2026-04-27 -x, 00123 49.00 2026-04-27 Lee,, 00124 49.00 2026-04-27 Z \"X\", ==D 49.00 2026-04-27 , @C 49.00 2026-04-27 =)", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			storetest.EitherShops(t, func(t *testing.T, f *storetest.Fixture) {
				c.o.Workspace = "ada"
				_, bad := f.ImportText(t, c.file, transfer.ImportOptions{SkipBad: true, CSV: &c.o})
				wantLines(t, bad, c.bad)
				var got []string
				err := f.Purchases(t.Context(), storetest.Operator, "ada", store.PurchaseFilter{}, func(p store.Purchase) error {
					got = append(got, fmt.Sprintf("%s %s %s %s", p.Code, p.Price, p.SoldAt.Format("2006-01-02"), p.BuyerName))
					return nil
				})
				slices.Sort(got)
				if strings.Join(got, ", ") != c.want || err != nil {
					t.Errorf("%q, %v, want %q", got, err, c.want)
				}
			})
		})
	}
}

func TestColumnsThatCannotBeToldAreRefusedBeforeAnyRow(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		cases := []struct {
			name, file string
			o          transfer.CSVOptions
			code, want string
		}{
			{"an unknown column", "code,Colour\n", transfer.CSVOptions{Workspace: "ada"}, "csv_columns", `No field for "Colour"`},
			{"two columns for one field", "code,Sale Date,Date\n", transfer.CSVOptions{Workspace: "ada"}, "csv_columns", "are both date"},
			{"a required field without a column", "code,item_id,license,currency\n", transfer.CSVOptions{Workspace: "ada"}, "csv_columns", "No column is date"},
			{"a map of a column that is not there", "code\n", transfer.CSVOptions{Workspace: "ada", Map: map[string]string{"Ref": "code"}}, "csv_columns", `No column "ref"`},
			{"a map to a field that is not there", "Ref,code\n", transfer.CSVOptions{Workspace: "ada", Map: map[string]string{"Ref": "reference"}}, "csv_columns", `No field for "reference"`},
			{"a value for a field that a column has", "code\n", transfer.CSVOptions{Workspace: "ada", Set: map[string]string{"code": "x"}}, "csv_columns", "the column \"code\" has it, too"},
			{"a value that is not one", "code\n", transfer.CSVOptions{Workspace: "ada", Set: map[string]string{"date": "1.2.2024"}}, "csv_columns", "ambiguous"},
			{"an order of dates that is not one", "code\n", transfer.CSVOptions{Workspace: "ada", Dates: "ymd"}, "import_dates", "Invalid order of dates"},
			{"UTF-8 that somebody says is older", "code\nx\nJürgen\n", transfer.CSVOptions{Workspace: "ada", Encoding: transfer.EncodingWindows1252}, "import_utf8", "Line 3 has characters in UTF-8, so the file is not Windows-1252"},
			{"one line of UTF-8 among older ones", "code\nJ\xfcrgen\nJürgen\n", transfer.CSVOptions{Workspace: "ada", Encoding: transfer.EncodingWindows1252}, "import_utf8", "Line 3"},
			{"an encoding that is not one", "code\n", transfer.CSVOptions{Workspace: "ada", Encoding: "KOI8-R"}, "import_encoding", "Invalid encoding"},
			{"an empty file", "\n", transfer.CSVOptions{Workspace: "ada"}, "csv_header", "the file is empty"},
			{"two separators", "a,b;c\n", transfer.CSVOptions{Workspace: "ada"}, "csv_header", "two separators"},
			{"several workspaces", "id\n", transfer.CSVOptions{}, "csv_workspace", "several workspaces"},
			{"no such workspace", "id\n", transfer.CSVOptions{Workspace: "eve"}, "workspace_not_found", "eve"},
		}
		for _, c := range cases {
			_, err := f.Transfer.Import(t.Context(), storetest.Operator, strings.NewReader(c.file), transfer.ImportOptions{CSV: &c.o})
			if !fault.HasCode(err, c.code) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	})
}

func TestColumnsAreRememberedByTheirHeader(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		file := func(code string) string {
			return "Ref;Sold;Notes;Item ID;License;Currency\n" + code + ";2024-04-27;x;1;Regular;USD\n"
		}
		fields := map[string]string{"Ref": "code", "Notes": ""}
		dry := storetest.CSVInto("ada", fields)
		dry.DryRun = true
		if report, bad := f.ImportText(t, file("code-0"), dry); len(bad) > 0 || report.Purchases.New != 1 {
			t.Fatalf("%+v, %v", report, bad)
		}
		import_ := func(workspace string, fields map[string]string, code string) (transfer.ImportReport, error) {
			return f.Transfer.Import(t.Context(), storetest.Operator, strings.NewReader(file(code)), storetest.CSVInto(workspace, fields))
		}
		if _, err := import_("ada", nil, "code-1"); !fault.HasCode(err, "csv_columns") {
			t.Errorf("a dry run was remembered: %v", err)
		}
		if r, err := import_("ada", fields, "code-2"); err != nil || !r.Written || r.CSV.Remembered {
			t.Fatalf("%+v, %v", r, err)
		}
		r, err := import_("ada", nil, "code-3")
		if err != nil || !r.Written || !r.CSV.Remembered {
			t.Errorf("%+v, %v", r, err)
		}
		var columns []string
		for _, c := range r.CSV.Columns {
			columns = append(columns, c.Name+"="+c.Field)
		}
		want := []string{"Ref=purchase_code", "Sold=date", "Notes=", "Item ID=item_id", "License=license_type", "Currency=currency"}
		expect.Equal(t, cmp.Diff(want, columns), "")
		if _, err := import_("bob", nil, "code-4"); !fault.HasCode(err, "csv_columns") {
			t.Errorf("another workspace uses it: %v", err)
		}
	})
}

func TestAMapOfSomeColumnsChangesThoseAlone(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		file := func(code, state string) string {
			return "Ref,Item,License,Currency,Date,Zustand,Note,reason\n" + code + ",1,Regular,USD,2026-04-27," + state + ",5.00,\n"
		}
		o := func(fields map[string]string) transfer.ImportOptions { return storetest.CSVInto("ada", fields) }
		first := o(map[string]string{"Ref": "code", "Zustand": "state", "Note": "", "reason": ""})
		first.CSV.States = map[string]storedb.State{"bezahlt": storedb.StateActive, "erstattet": storedb.StateRefunded}
		f.ImportText(t, file("A-001", "bezahlt"), first)
		for code, fields := range map[string]map[string]string{"A-002": {"Ref": "purchase_code"}, "A-003": {"Note": "price"}, "A-004": nil} {
			r, bad := f.ImportText(t, strings.Replace(file(code, "erstattet"), ",reason", "", 1), o(fields))
			if len(bad) > 0 || !r.CSV.Remembered || f.Purchase(t, code).State != storedb.StateRefunded {
				t.Errorf("%s: %+v, %v", code, r.CSV, bad)
			}
		}
		expect.Equal(t, codesAndStates(t, f), "A-001 active A-002 refunded A-003 refunded A-004 refunded")
		f.ImportText(t, file("A-005", "bezahlt"), o(nil))
		expect.Equalf(t, f.Purchase(t, "A-005").Price, 500, "the column that was named last")
	})
}

func TestWhatNoColumnHasStays(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, storetest.Lines(
			storetest.ItemText("ada", 1, `"description":"long"`, `"tags":["a"]`, `"licensing":{"regular_domains":5,"wildcard":false,"staging_hosts":[]}`),
			storetest.PurchaseText("ada", 1, "code-1", `"state":"refunded","state_at":"2026-05-05T05:05:05Z"`, `"downloaded":true`, `"buyer":{"name":"Zoe","email":"z@x.example"}`),
		))
		exported := f.MustExport(t, false)
		sale := "code,item_id,license,price,currency,date\ncode-1,1,Regular,%s,USD,2024-04-27T12:00:00Z\n"
		price := f.Purchase(t, "code-1").Price
		for _, file := range []string{"Item ID,Name\n1,Item 1\n", fmt.Sprintf(sale, price)} {
			if r, bad := f.ImportText(t, file, storetest.CSVInto("ada", nil)); len(bad) > 0 || r.Purchases.Same+r.Items.Same != 1 {
				t.Errorf("%+v, %v", r, bad)
			}
		}
		if got := f.MustExport(t, false); got != exported {
			t.Error(storetest.FirstDifference(exported, got))
		}
		if r, bad := f.ImportText(t, "Item ID,Title\n1,new\n", storetest.CSVInto("ada", nil)); len(bad) > 0 || r.Items.Changed != 1 {
			t.Errorf("%+v, %v", r, bad)
		}
		f.ImportText(t, fmt.Sprintf(sale, "1.50"), storetest.CSVInto("ada", nil))
		want := strings.Replace(exported, `"name":"Item 1"`, `"name":"new"`, 1)
		want = strings.Replace(want, `"price":`+price.String(), `"price":1.50`, 1)
		if got := f.MustExport(t, false); got != want {
			t.Error(storetest.FirstDifference(want, got))
		}
	})
}

// manySales is 10,000 rows of which six are bad.
func manySales() string {
	var file strings.Builder
	file.WriteString(saleHeader + "\n")
	for i := range 10_000 {
		item, date, email, amount := "1", "2024-04-27", "b@x.example", "49"
		switch i {
		case 17:
			item = "3" // of bob
		case 1000:
			date = "04/05/2024"
		case 2000:
			amount = "1,204"
		case 3000:
			email = "=HYPERLINK(1)"
		case 4000:
			item = "one"
		case 9999:
			date = ""
		}
		fmt.Fprintf(&file, "CODE-%05d-of-many-sales,%s,Regular,%q,USD,%s,,\"Zoe\nLee\",%s\n", i, item, amount, date, email)
	}
	return file.String()
}

func TestOfTenThousandRowsTheBadOnesComeBackWithTheirReasons(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		reasons := map[int]string{}
		var rejects []string
		o := storetest.CSVInto("ada", nil)
		o.Bad = func(line int, reason string, raw []byte) {
			reasons[line] = reason
			rejects = append(rejects, string(raw))
		}
		run := func() transfer.ImportReport {
			t.Helper()
			reasons, rejects = map[int]string{}, nil
			return must.Get(f.Transfer.Import(t.Context(), storetest.Operator, strings.NewReader(manySales()), o))(t)
		}
		o.DryRun = true
		if r := run(); r.Written || r.Bad != 6 || r.Purchases.New != 9994 || r.Lines != 10_000 {
			t.Errorf("%+v", r)
		}
		want := []int{36, 2002, 4002, 6002, 8002, 20_000}
		if got := slices.Sorted(maps.Keys(reasons)); !slices.Equal(got, want) {
			t.Errorf("bad lines %v (%v), want %v", got, reasons, want)
		}
		o.DryRun = false
		if r := run(); r.Written || f.Rows(t, "purchases") != 0 {
			t.Errorf("%+v", r)
		}
		o.SkipBad = true
		if r := run(); !r.Written || f.Rows(t, "purchases") != 9994 {
			t.Errorf("%+v", r)
		}
		file := strings.Join(rejects, "\n") + "\n"
		for _, text := range []string{saleHeader + ",reason\n", `,'=HYPERLINK(1),"buyer_email: ""=HYPERLINK(1)"" is a formula of a spreadsheet; write its value, or an apostrophe before a text that begins like one"`} {
			if !strings.Contains(file, text) {
				t.Errorf("%q is missing in %s", text, file)
			}
		}
		fixed := strings.NewReplacer(",3,", ",1,", "04/05/2024", "2024-05-04", `,"1,204",`, ",1204.00,", "'=HYPERLINK(1)", "z@x.example", ",one,", ",1,", ",USD,,,", ",USD,2024-04-27,,").Replace(file)
		if r, bad := f.ImportText(t, fixed, storetest.CSVInto("ada", nil)); len(bad) > 0 || r.Purchases.New != 6 {
			t.Errorf("%+v, %v", r, bad)
		}
	})
}

// A row can also turn out bad when all are staged.
func TestARowThatConflictsComesBackAsARow(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, storetest.Lines(storetest.PurchaseText("bob", 3, "taken")))
		var raw string
		o := storetest.CSVInto("ada", nil)
		o.Bad = func(line int, reason string, text []byte) { raw = fmt.Sprintf("%d: %s", line, text) }
		r, err := f.Transfer.Import(t.Context(), storetest.Operator, strings.NewReader("code;item_id;license;currency;date\nfree;1;Regular;USD;2024-04-27\nTAKEN;1;Regular;USD;2024-04-27\n"), o)
		if err != nil || r.Written || r.Bad != 1 {
			t.Fatalf("%+v, %v", r, err)
		}
		want := "3: code;item_id;license;currency;date;reason\nTAKEN;1;Regular;USD;2024-04-27;\"this purchase code already exists; codes are unique in the store and do not depend on upper and lower case\""
		if raw != want {
			t.Errorf("%s\nwant\n%s", raw, want)
		}
	})
}

func TestItemsOfAnotherWorkspaceAreNotTakenByCSV(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		r, bad := f.ImportText(t, "id,name,currency,published_at\n3,mine,USD,2024-04-27\n", storetest.CSVInto("ada", nil))
		if len(bad) != 1 || r.Written || !strings.Contains(bad[0].Reason, "already exists") {
			t.Errorf("%+v, %v", r, bad)
		}
		_, err := f.Transfer.Import(t.Context(), people.Actor{}, nil, storetest.CSVInto("ada", nil))
		if !fault.HasCode(err, "key_scope") {
			t.Error(err)
		}
	})
}

func TestARowDoesNotTakeBackWhatWasEditedWhileTheFileWasRead(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		other := f.Again(t)
		file := "id,name\n1,from the file\n2,from the file\n" + strings.Repeat("\n", 200_000)
		var reason string
		o := storetest.CSVInto("ada", nil)
		o.SkipBad, o.Bad = true, func(line int, why string, _ []byte) { reason += fmt.Sprint(line, " ", why) }
		r, err := f.Transfer.Import(t.Context(), storetest.Operator, storetest.NewMeddler(strings.NewReader(file), func() {
			if _, err := other.EditItem(t.Context(), storetest.Operator, 1, "", func(i *store.Item, _ string) error { i.Description = "edited"; return nil }); err != nil {
				t.Error(err)
			}
		}), o)
		if err != nil || r.Items.Changed != 1 || r.Bad != 1 || !strings.Contains(reason, "2 somebody has changed this item") {
			t.Errorf("%+v, %v, %s", r, err, reason)
		}
		if exported := f.MustExport(t, false); !strings.Contains(exported, `"description":"edited"`) || strings.Count(exported, "from the file") != 1 {
			t.Error(exported)
		}
	})
}
