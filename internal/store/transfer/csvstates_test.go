package transfer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/store/transfer"
)

const soldHeader = "code,item_id,license,currency,date"

func rowSold(code string, more ...string) string {
	return strings.Join(append([]string{code, "1", "Regular", "USD", "2026-04-27"}, more...), ",")
}

// What was refunded, disputed, failed or cancelled never becomes a good code.
func TestOnlySalesThatWerePaidAndNotTakenBackAreGood(t *testing.T) {
	words := map[string]storedb.State{"Processing": storedb.StateActive, "On vacation": transfer.StateSkipped}
	cases := []struct {
		name, header string
		rows         []string
		o            transfer.CSVOptions
		want         string // codes and their states
		skipped      string
		bad          map[int]string
	}{
		{"words of a column", "Payment status", []string{"A,paid", "B,Refunded", "C,chargeback", "D,failed", "E,cancelled", "F,Cancelled", "G,disabled"}, transfer.CSVOptions{},
			"A active B refunded C charged_back G revoked", "failed 1 cancelled 2", nil},
		{"an empty state says nothing", "Status", []string{"A,paid", "B,"}, transfer.CSVOptions{}, "A active", "", map[int]string{3: "the state is empty"}},
		{"somebody has said what an empty state means", "Status", []string{"A,paid", "B,"}, transfer.CSVOptions{States: map[string]storedb.State{"": storedb.StateActive}}, "A active B active", "", nil},
		{"signs are words", "Status", []string{"A,✓", "B,✗"}, transfer.CSVOptions{States: map[string]storedb.State{"✓": storedb.StateActive, "✗": storedb.StateRefunded}}, "A active B refunded", "", nil},
		{"unknown words are asked for", "Status", []string{"A,processing", "B,on vacation", "C,paid"}, transfer.CSVOptions{}, "C active", "",
			map[int]string{2: `nobody has said what "processing" means`, 3: `nobody has said what "on vacation" means`}},
		{"words that somebody has explained", "Status", []string{"A,processing", "B,on vacation", "C,paid"}, transfer.CSVOptions{States: words}, "A active C active", "on vacation 1", nil},
		{"columns of yes and no", "Fully Refunded?,Disputed?,Dispute Won?,Access Revoked?,License Key Enabled?",
			[]string{"A,0,0,0,0,1", "B,1,0,0,0,1", "C,0,1,0,0,1", "D,0,1,1,0,1", "E,0,0,0,1,1", "F,0,0,0,0,0", "G,1,1,1,0,1", "H,0,0,0,0,"}, transfer.CSVOptions{},
			"A active B refunded C charged_back D active E revoked F revoked G refunded H active", "", nil},
		{"the worst of two columns", "Status,Refunded", []string{"A,completed,yes", "B,refunded,no", "C,pending,no"}, transfer.CSVOptions{}, "A refunded B refunded", "pending 1", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			storetest.EitherShops(t, func(t *testing.T, f *storetest.Fixture) {
				file := soldHeader + "," + c.header + "\n"
				for _, row := range c.rows {
					code, more, _ := strings.Cut(row, ",")
					file += rowSold(code, more) + "\n"
				}
				c.o.Workspace = "ada"
				report, bad := f.ImportText(t, file, transfer.ImportOptions{SkipBad: true, CSV: &c.o})
				wantLines(t, bad, c.bad)
				var skipped []string
				for _, s := range report.Skipped {
					skipped = append(skipped, fmt.Sprint(s.Word, " ", s.Count))
				}
				expect.Equalf(t, strings.Join(skipped, " "), c.skipped, "skipped")
				expect.Equal(t, codesAndStates(t, f), c.want)
			})
		})
	}
}

func codesAndStates(t *testing.T, f *storetest.Fixture) string {
	t.Helper()
	var all []string
	must.Do(t, f.Purchases(t.Context(), storetest.Operator, "ada", store.PurchaseFilter{}, func(p store.Purchase) error {
		all = append(all, p.Code+" "+string(p.State))
		return nil
	}))
	slices.Sort(all)
	return strings.Join(all, " ")
}

func TestAColumnThatMayEndCodesIsNotIgnoredByTheWay(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		cases := []struct{ name, header, cell, want string }{
			{"by its name", "Refunded?", "no", `The column "Refunded?" is ignored, but it may say that a sale was refunded`},
			{"a status", "Shipping status", "sent", `The column "Shipping status" is ignored`},
			{"by a value", "Note", "Disputed", `The column "Note" is ignored, but line 2 has "Disputed" in it`},
			{"by one of two words", "Note", "paid / refunded", `The column "Note" is ignored, but line 2 has "paid / refunded" in it`},
			{"another column", "Note", "was refunded by mistake, paid again", ""},
			{"the state of an address", "State", "CA", ""},
		}
		for i, c := range cases {
			file := soldHeader + "," + c.header + "\n" + rowSold(fmt.Sprint("CODE-", i), fmt.Sprintf("%q", c.cell)) + "\n"
			o := storetest.CSVInto("ada", map[string]string{c.header: ""})
			_, err := f.Transfer.Import(t.Context(), storetest.Operator, strings.NewReader(file), o)
			if c.want == "" && err != nil || c.want != "" && (!fault.HasCode(err, "csv_states") || !strings.Contains(fault.Message(err), c.want)) {
				t.Errorf("%s: %v", c.name, err)
			}
			o.CSV.IgnoreStates = true
			if r, bad := f.ImportText(t, file, o); len(bad) > 0 || !r.Written {
				t.Errorf("%s, ignored: %+v, %v", c.name, r, bad)
			}
		}
	})
}

func TestWhatWordsMeanIsRememberedByTheHeader(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		file := func(code, word string) string { return soldHeader + ",Status\n" + rowSold(code, word) + "\n" }
		o := storetest.CSVInto("ada", nil)
		o.CSV.States = map[string]storedb.State{"Sent": storedb.StateActive}
		f.ImportText(t, file("A", "sent"), o)
		r, bad := f.ImportText(t, file("B", "SENT"), storetest.CSVInto("ada", nil))
		if len(bad) > 0 || !r.CSV.Remembered || codesAndStates(t, f) != "A active B active" {
			t.Errorf("%+v, %v", r, bad)
		}
		o.CSV.States = map[string]storedb.State{"Sent": "lost"}
		if _, err := f.Transfer.Import(t.Context(), storetest.Operator, strings.NewReader(file("C", "sent")), o); !fault.HasCode(err, "import_states") {
			t.Error(err)
		}
	})
}

func TestOthersAreIgnoredTogether(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		o := storetest.CSVInto("ada", nil)
		o.CSV.IgnoreOthers = true
		file := soldHeader + ",Colour,Mood\n" + rowSold("A", "red", "good") + "\n\"A-ONE, A-TWO\",1,Regular,USD,2026-04-27,,\n"
		o.SkipBad = true
		_, bad := f.ImportText(t, file, o)
		wantLines(t, bad, map[int]string{3: "the cell has 2 purchase codes; write a row for each, or have the row split"})
		expect.Equal(t, codesAndStates(t, f), "A active")
	})
}

// What an attack on the import has made good, or lost: nothing that a file says about a sale is dropped silently.
func TestNothingThatAFileSaysAboutASaleIsDropped(t *testing.T) {
	const header = "Code,Item,License,Currency,Date,Price"
	row := func(code, price string, more ...string) string {
		return strings.Join(append([]string{code, "1", "Regular", "EUR", "2026-04-27", price}, more...), ",") + "\n"
	}
	in := func(currency, line string) string { return strings.Replace(line, "EUR", currency, 1) }
	both := map[int]string{2: "line 3 has this purchase code, too, and was left out or rejected"}
	cases := []struct {
		name, header string
		rows         string
		o            transfer.CSVOptions
		want         string
		bad          map[int]string
	}{
		{"a refund without an amount is one of all", "State,Refund of", row("SALE-0001", "49.00", "paid", "") + row("REF-0001", "", "refunded", "SALE-0001"), transfer.CSVOptions{}, "SALE-0001 refunded", nil},
		{"a refunded amount needs a price", "Refunded amount", row("SALE-0001", "", "49.00"), transfer.CSVOptions{}, "", map[int]string{2: "the row has a refunded amount and no price"}},
		{"a refund by a column of yes and no", "Refunded,Refund of", row("SALE-0001", "49.00", "no", "") + row("REF-0001", "49.00", "yes", "SALE-0001"), transfer.CSVOptions{}, "SALE-0001 refunded", nil},
		{"a refund by its amount alone", "Refund of", row("SALE-0001", "49.00", "") + row("REF-0001", "-49.00", "SALE-0001"), transfer.CSVOptions{}, "SALE-0001 refunded", nil},
		{"the same refund twice counts once", "Refund of", row("SALE-0001", "49.00", "") + row("REF-0001", "-25.00", "SALE-0001") + row("REF-0001", "-25.00", "SALE-0001"), transfer.CSVOptions{}, "SALE-0001 active", nil},
		{"a refund in three decimals", "Refund of", in("KWD", row("SALE-0001", "4.500", "")) + in("KWD", row("REF-0001", "-4.500", "SALE-0001")), transfer.CSVOptions{}, "SALE-0001 refunded", nil},
		{"a refund in another currency", "Refund of", row("SALE-0001", "49.00", "") + in("USD", row("REF-0001", "-49.00", "SALE-0001")), transfer.CSVOptions{}, "",
			map[int]string{2: "line 3 takes this sale back in USD, but it was paid in EUR", 3: "the sale that this row takes back was rejected"}},
		{"a refund whose sale is rejected", "State,Refund of", strings.Replace(row("SALE-0001", "49.00", "paid", ""), ",1,", ",Nosuch,", 1) + row("REF-0001", "-49.00", "refunded", "SALE-0001"), transfer.CSVOptions{}, "",
			map[int]string{2: "Nosuch", 3: "the sale that this row takes back was rejected; correct it and import both"}},
		{"a sale whose refund can't be read", "State,Refund of", row("SALE-0001", "49.00", "paid", "") + row("REF-0001", "-49.00", "zurück", "SALE-0001"), transfer.CSVOptions{}, "",
			map[int]string{2: "line 3 takes this sale back and can't be read", 3: "zurück"}},
		{"a sale whose refund is in another encoding", "Buyer,State,Refund of", row("SALE-0001", "49.00", "Ann", "paid", "") + row("REF-0001", "-49.00", "J\xfcrgen", "refunded", "SALE-0001"), transfer.CSVOptions{}, "",
			map[int]string{2: "line 3 takes this sale back and can't be read", 3: "not valid UTF-8"}},
		{"a sale whose refund has a formula", "Buyer,State,Refund of", row("SALE-0001", "49.00", "Ann", "paid", "") + row("REF-0001", "-49.00", "=1+1", "refunded", "SALE-0001"), transfer.CSVOptions{}, "",
			map[int]string{2: "line 3 takes this sale back and can't be read", 3: "is a formula"}},
		{"a sale that a row in another encoding takes back", "Buyer,State", row("SALE-0001", "49.00", "Ann", "paid") + row("SALE-0001", "49.00", "J\xfcrgen", "refunded"), transfer.CSVOptions{}, "",
			map[int]string{2: both[2], 3: "not valid UTF-8"}},
		{"two states in a cell", "State", row("SALE-0001", "49.00", `"paid, refunded"`) + row("SALE-0002", "49.00", "paid"), transfer.CSVOptions{}, "SALE-0002 active",
			map[int]string{2: `nobody has said what "paid, refunded" means`}},
		{"a sale that is cancelled in another row", "State", row("SALE-0001", "49.00", "paid") + row("SALE-0001", "49.00", "cancelled"), transfer.CSVOptions{}, "", both},
		{"a sale that another row, which is rejected, takes back", "State", row("SALE-0001", "49.00", "paid") + row("SALE-0001", "forty", "refunded"), transfer.CSVOptions{}, "",
			map[int]string{2: both[2], 3: "forty"}},
		{"contradictions in a chain of split rows", "State", row("XXXX-0001", "10.00", "paid") + row("XXXX-0001;ZZZZ-0001", "60.00", "paid") + row("ZZZZ-0001", "30.00", "paid") + row("ZZZZ-0001", "30.00", "refunded"),
			transfer.CSVOptions{Split: true}, "", map[int]string{2: "differ in price", 3: "differ in price", 4: "differ in state", 5: "differ in state"}},
		{"a placeholder is not a code", "", row("N/A", "49.00") + row("SALE-0001", "49.00"), transfer.CSVOptions{}, "SALE-0001 active", map[int]string{2: `"N/A" is not a purchase code`}},
		{"what a spreadsheet made of a code is not one", "", row("#NAME?", "49.00") + row("SALE-0001", "49.00"), transfer.CSVOptions{}, "SALE-0001 active", map[int]string{2: `"#NAME?" is not a purchase code`}},
		{"a day that never was", "Cancelled at", row("SALE-0001", "49.00", "0000-00-00 00:00:00") + row("SALE-0002", "49.00", "2026-05-01"), transfer.CSVOptions{}, "SALE-0001 active", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			storetest.EitherShops(t, func(t *testing.T, f *storetest.Fixture) {
				c.o.Workspace = "ada"
				file := strings.TrimSuffix(header+","+c.header, ",") + "\n" + c.rows
				report, bad := f.ImportText(t, file, transfer.ImportOptions{SkipBad: true, CSV: &c.o})
				wantLines(t, bad, c.bad)
				expect.Equal(t, codesAndStates(t, f), c.want)
				skipped := 0
				for _, s := range report.Skipped {
					skipped += s.Count
				}
				if m := report.Purchases; int(m.New+m.Changed+m.Same+m.Repeated)+report.Bad+skipped != report.Lines+report.Split {
					t.Errorf("the counts: %+v", report)
				}
			})
		})
	}
}

func TestAFileDoesNotMakeACodeGoodAgain(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		file := func(word string) string { return soldHeader + ",status\n" + rowSold("CODE-1", word) + "\n" }
		for _, word := range []string{"paid", "refunded"} {
			f.ImportText(t, file(word), storetest.CSVInto("ada", nil))
		}
		before := f.Purchase(t, "CODE-1")
		report, bad := f.ImportText(t, file("paid"), storetest.CSVInto("ada", nil))
		if after := f.Purchase(t, "CODE-1"); len(bad) > 0 || after != before || report.Kept.Count != 1 || report.Purchases.Same != 1 {
			t.Errorf("%+v, %v: %+v, before %+v", report, bad, after, before)
		}
	})
}

func TestIgnoredColumnsThatSpeakOfRefundsStopTheImport(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		for name, column := range map[string][2]string{
			"a payment's state": {"Payment state", "fine"}, "cancellations": {"Cancelled", "no"}, "a short word": {"Type", "refund"}, "a word that goes on": {"Result", "Refunded (full)"},
			"failed": {"Result", "failed"}, "the reason of a refund": {"Reason", "chargeback lost"},
		} {
			o := storetest.CSVInto("ada", map[string]string{column[0]: ""})
			file := soldHeader + "," + column[0] + "\n" + rowSold("CODE-1", column[1]) + "\n"
			if _, err := f.Transfer.Import(t.Context(), storetest.Operator, strings.NewReader(file), o); !fault.HasCode(err, "csv_states") {
				t.Errorf("%s: %v", name, err)
			}
		}
		o := storetest.CSVInto("ada", map[string]string{"Status": ""})
		file := soldHeader + ",State,Country\n" + rowSold("CODE-1", "failed", "DK") + "\n"
		o.CSV.Map = map[string]string{"Country": ""}
		if _, err := f.Transfer.Import(t.Context(), storetest.Operator, strings.NewReader(file), o); !fault.HasCode(err, "csv_states") {
			t.Errorf("a state beside a country: %v", err)
		}
		gumroad := shopExports[0].options()
		gumroad.CSV.Map = map[string]string{"Fully Refunded?": ""}
		if _, err := f.Transfer.Import(t.Context(), storetest.Operator, strings.NewReader(fileOf(shopExports[0].rows(t))), gumroad); !fault.HasCode(err, "csv_states") {
			t.Errorf("a column of a known shop: %v", err)
		}
	})
}
