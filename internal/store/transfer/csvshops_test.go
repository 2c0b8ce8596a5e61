package transfer_test

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/store/transfer"
)

// shopExport is a file in testdata/shops. The code of each row begins with what became of the sale.
type shopExport struct {
	name, shop string
	o          transfer.CSVOptions
	bad        map[int]string
	skipped    int
	prices     map[string]string // of codes, by their beginnings
}

const whatExpires = `nobody has said what "expired" means`

var shopExports = []shopExport{
	{"gumroad", "Gumroad", transfer.CSVOptions{}, nil, 2, map[string]string{"PAID-AAAA-0001": "49.00 USD", "EXTENDED": "249.00 USD", "SEVERAL-AAAA-0008": "49.00 USD", "SEVERAL-AAAA-0009": "49.00 USD", "FREE": "0.00 USD"}},
	{"lemonsqueezy-licenses", "Lemon Squeezy", transfer.CSVOptions{}, map[int]string{7: whatExpires}, 1, nil},
	{"lemonsqueezy-orders", "Lemon Squeezy", transfer.CSVOptions{}, nil, 3, map[string]string{"PAID": "49.00 USD", "FOREIGN": "4900.00 JPY", "SEVERAL": "49.00 USD"}},
	{"woocommerce", "WooCommerce", transfer.CSVOptions{}, nil, 3, map[string]string{"PAID": "49.00 USD", "FOREIGN": "4.50 KWD", "SEVERAL": "49.00 USD", "EXTENDED": "249.00 USD"}},
	{"license-manager", "License Manager for WooCommerce", transfer.CSVOptions{Set: map[string]string{"currency": "EUR"}}, nil, 2, nil},
	{"easy-digital-downloads", "Easy Digital Downloads", transfer.CSVOptions{}, nil, 3, map[string]string{"foreign": "1204.00 EUR", "extended": "249.00 USD"}},
	{"payhip", "Payhip", transfer.CSVOptions{}, nil, 2, map[string]string{"FOREIGN": "1204.00 EUR", "SEVERAL-GGGG-0007": "33.34 USD", "SEVERAL-GGGG-0008": "33.33 USD", "SEVERAL-GGGG-0009": "33.33 USD"}},
	{"stripe", "Stripe", transfer.CSVOptions{}, nil, 3, map[string]string{"FOREIGN": "4900.00 JPY", "SEVERAL": "49.00 USD"}},
	{"paypal", "PayPal", transfer.CSVOptions{}, map[int]string{15: "the row takes 20.00 EUR back and does not say of which sale"}, 6, map[string]string{"EXTENDED": "1204.00 EUR", "FOREIGN": "59.00 USD"}},
	{"shopify", "Shopify", transfer.CSVOptions{}, nil, 3, map[string]string{"FOREIGN": "4900.00 JPY", "SEVERAL": "49.00 EUR", "PAID-JJJJ-0009": "49.00 EUR"}},
}

// good are the beginnings of codes whose sales were paid and not taken back.
var good = []string{"paid", "partly", "extended", "several", "free", "foreign"}

func isGood(code string) bool {
	return slices.ContainsFunc(good, func(fate string) bool { return strings.HasPrefix(strings.ToLower(code), fate) })
}

// rows are the header and the rows of the file.
func (s shopExport) rows(t *testing.T) [][]string {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.Join("testdata", "shops", s.name+".csv")))(t)
	return must.Get(csv.NewReader(bytes.NewReader(text)).ReadAll())(t)
}

func fileOf(rows [][]string) string {
	var file strings.Builder
	_ = csv.NewWriter(&file).WriteAll(rows) // to memory
	return file.String()
}

// options have the file imported with what only the seller knows: which item is which.
func (s shopExport) options() transfer.ImportOptions {
	o := s.o
	o.Workspace, o.Items, o.Split = "ada", map[string]int64{"Shop Theme": 1, "1": 1}, true
	return transfer.ImportOptions{SkipBad: true, CSV: &o}
}

// checkSold checks that the codes that are good are those of rows whose sales were paid and not taken back.
func (s shopExport) checkSold(t *testing.T, f *storetest.Fixture, rows [][]string, bad []storetest.Rejected) {
	t.Helper()
	there := map[string]bool{}
	for _, p := range purchasesOf(t, f) {
		there[p.Code] = p.State == storedb.StateActive
		expect.Equalf(t, there[p.Code], isGood(p.Code), "%s is %s", p.Code, p.State)
		if want := strings.HasPrefix(strings.ToLower(p.Code), "extended"); (p.License == "Extended") != want {
			t.Errorf("the license of %s is %s", p.Code, p.License)
		}
		for code, price := range s.prices {
			if got := p.Price.String() + " " + p.Currency; strings.HasPrefix(p.Code, code) && got != price {
				t.Errorf("the price of %s is %s, want %s", p.Code, got, price)
			}
		}
	}
	for i, row := range rows[1:] {
		if slices.ContainsFunc(bad, func(r storetest.Rejected) bool { return r.Line == i+2 }) {
			continue
		}
		for _, cell := range row {
			for code := range strings.FieldsFuncSeq(cell, func(r rune) bool { return strings.ContainsRune(",;\n ", r) }) {
				if isCode(code) && isGood(code) && !there[code] {
					t.Errorf("%s of row %d was paid and is not there", code, i+2)
				}
			}
		}
	}
}

// isCode reports whether a text is one of the codes of the files.
func isCode(text string) bool {
	return len(text) >= 14 && strings.ContainsAny(text, "0123456789") && !strings.Contains(text, "@")
}

func purchasesOf(t *testing.T, f *storetest.Fixture) (all []storedb.Purchase) {
	t.Helper()
	must.Do(t, f.Purchases(t.Context(), storetest.Operator, "ada", storedb.PurchaseFilter{}, func(p storedb.Purchase) error {
		all = append(all, p)
		return nil
	}))
	return all
}

func TestExportsOfShopsBecomeTheSalesThatWerePaidAndNotTakenBack(t *testing.T) {
	for _, s := range shopExports {
		t.Run(s.name, func(t *testing.T) {
			storetest.EitherShops(t, func(t *testing.T, f *storetest.Fixture) {
				rows := s.rows(t)
				report, bad := f.ImportText(t, fileOf(rows), s.options())
				wantLines(t, bad, s.bad)
				expect.Equalf(t, report.CSV.Shop, s.shop, "recognized as")
				skipped := 0
				for _, one := range report.Skipped {
					skipped += one.Count
				}
				m := report.Purchases
				if int(m.New+m.Changed+m.Same+m.Repeated)+report.Bad+skipped != report.Lines+report.Split || skipped != s.skipped {
					t.Errorf("%d rows, %d split, %d skipped %v, %d bad: %+v", report.Lines, report.Split, skipped, report.Skipped, report.Bad, m)
				}
				s.checkSold(t, f, rows, bad)
				if again, _ := f.ImportText(t, fileOf(rows), transfer.ImportOptions{SkipBad: true, CSV: &transfer.CSVOptions{Workspace: "ada", Split: true, Set: s.o.Set}}); again.Purchases.New+again.Purchases.Changed > 0 {
					t.Errorf("the second time, with the items remembered: %+v", again.Purchases)
				}
			})
		})
	}
}

// Whatever the order of rows, and with the words of states in any spelling, no sale that was taken back
// is good, and no paid one is missing without being named.
func TestSalesThatWereTakenBackAreNeverGoodInAnyOrderOfRows(t *testing.T) {
	respell := []func(string) string{strings.ToUpper, strings.ToLower, func(s string) string { return " " + s + " " }, func(s string) string { return strings.ReplaceAll(s, "_", "-") }, func(s string) string { return s }}
	for _, s := range shopExports {
		t.Run(s.name, func(t *testing.T) {
			storetest.EitherShops(t, func(t *testing.T, f *storetest.Fixture) {
				seed := rand.Uint64()
				r := rand.New(rand.NewPCG(seed, 1))
				rows := s.rows(t)
				order := slices.Index(rows[0], "Lineitem name") >= 0 // the rows of an order stay together
				if !order {
					r.Shuffle(len(rows)-1, func(i, j int) { rows[1+i], rows[1+j] = rows[1+j], rows[1+i] })
				}
				for i, name := range rows[0] {
					if folded := strings.ToLower(name); strings.Contains(folded, "status") || folded == "type" {
						for _, row := range rows[1:] {
							row[i] = respell[r.IntN(len(respell))](row[i])
						}
					}
				}
				_, bad := f.ImportText(t, fileOf(rows), s.options())
				s.checkSold(t, f, rows, bad)
				if t.Failed() {
					t.Logf("seed %d:\n%s", seed, fileOf(rows))
				}
			})
		})
	}
}

func TestARefundInALaterFileTakesBackAnEarlierSale(t *testing.T) {
	s := shopExports[slices.IndexFunc(shopExports, func(s shopExport) bool { return s.name == "paypal" })]
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		rows := s.rows(t)
		column := func(name string) int { return slices.Index(rows[0], name) }
		row := func(code, gross, kind, of string) []string {
			cells := slices.Clone(rows[2])
			cells[column("Transaction ID")], cells[column("Gross")], cells[column("Type")], cells[column("Reference Txn ID")] = code, gross, kind, of
			return cells
		}
		f.ImportText(t, fileOf([][]string{rows[0], row("SALE000001", "49,00", "Website Payment", ""), row("SALE000002", "49,00", "Website Payment", "")}), s.options())
		report, bad := f.ImportText(t, fileOf([][]string{rows[0],
			row("REFUND0001", "-49,00", "Payment Refund", "SALE000001"), row("REFUND0002", "-9,00", "Payment Refund", "sale000002"),
			row("REFUND0003", "-9,00", "Payment Refund", "SALE000009"), row("REFUND0004", "-9,00", "Payment Refund", "")}), s.options())
		wantLines(t, bad, map[int]string{4: `neither the file nor the store has the sale "SALE000009", which this row takes back`, 5: "the row takes 9.00 EUR back and does not say of which sale"})
		if got := codesAndStates(t, f); got != "SALE000001 refunded SALE000002 active" || report.Purchases.Changed != 1 {
			t.Errorf("%s, %+v", got, report.Purchases)
		}
		parts := [][]string{rows[0], row("REFUND0002", "-9,00", "Payment Refund", "SALE000002"), row("REFUND0005", "-30,00", "Payment Refund", "SALE000002")}
		second, _ := f.ImportText(t, fileOf(parts), s.options())
		f.ImportText(t, fileOf(parts), s.options())
		expect.Equalf(t, codesAndStates(t, f), "SALE000001 refunded SALE000002 active", "39 of 49 were paid back, in rows that two files have")
		rest := fileOf([][]string{rows[0], row("REFUND0006", "-10,00", "Payment Refund", "SALE000002")})
		f.ImportText(t, rest, s.options())
		expect.Equalf(t, codesAndStates(t, f), "SALE000001 refunded SALE000002 refunded", "all was paid back, in three files")
		sale := func(refund ...string) string {
			return fileOf([][]string{rows[0], row("SALE000003", "49,00", "Website Payment", ""), row(refund[0], refund[1], "Payment Refund", "SALE000003")})
		}
		f.ImportText(t, sale("REFUND0007", "-25,00"), s.options())
		undone, _ := f.ImportText(t, sale("REFUND0008", "-20,00"), s.options())
		if _, err := f.Transfer.Undo(t.Context(), storetest.Operator, undone.ID, false); err != nil || undone.ID == 0 || second.ID == 0 {
			t.Fatal(undone.ID, second.ID, err)
		}
		f.ImportText(t, sale("REFUND0009", "-23,99"), s.options())
		expect.Equalf(t, f.Purchase(t, "SALE000003").State, storedb.StateActive, "48.99 of 49.00, without what was undone")
		f.ImportText(t, sale("REFUND0010", "-0,01"), s.options())
		expect.Equalf(t, f.Purchase(t, "SALE000003").State, storedb.StateRefunded, "all of a sale that each file has")
		refunds := func(amounts ...string) map[int]string {
			file := [][]string{rows[0]}
			for _, amount := range amounts {
				file = append(file, row("REFUND0011", amount, "Payment Refund", "SALE000004"))
			}
			_, bad := f.ImportText(t, fileOf(file), s.options())
			lines := map[int]string{}
			for _, b := range bad {
				lines[b.Line] = b.Reason
			}
			return lines
		}
		f.ImportText(t, fileOf([][]string{rows[0], row("SALE000004", "49,00", "Website Payment", "")}), s.options())
		const one = "the lines 2 and 3 take this sale back with one code and different amounts"
		if got, want := refunds("-9,00", "-40,00"), map[int]string{2: one, 3: one}; !maps.Equal(got, want) {
			t.Errorf("one code with two amounts: %v", got)
		}
		if got := refunds("-9,00"); len(got) != 0 {
			t.Error(got)
		}
		const two = "line 2 takes this sale back with a code under which an earlier file has another amount (9.00 EUR)"
		if got, want := refunds("-40,00"), map[int]string{2: two}; !maps.Equal(got, want) {
			t.Errorf("one code with two amounts in two files: %v", got)
		}
	})
}

func TestASaleThatIsNoLongerPaidIsNamedWhileItsCodeIsGood(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		file := func(word string) string { return soldHeader + ",status\n" + rowSold("CODE-1", word) + "\n" }
		f.ImportText(t, file("pending"), storetest.CSVInto("ada", nil))
		f.ImportText(t, file("paid"), storetest.CSVInto("ada", nil))
		_, bad := f.ImportText(t, file("cancelled"), storetest.CSVInto("ada", nil))
		wantLines(t, bad, map[int]string{2: `the sale is "cancelled", but the store has its code as good; revoke that purchase`})
	})
}

func TestItemsAreFoundByTheirNamesAndNeverGuessed(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, storetest.Lines(storetest.ItemText("ada", 7, `"name":"Rain"`), storetest.ItemText("ada", 8, `"name":"Twins"`), storetest.ItemText("ada", 9, `"name":"twins"`)))
		header := "code,item,currency,date\n"
		row := func(code, item string) string {
			return fmt.Sprintf("%s,%q,USD,2026-04-27\n", code, item)
		}
		o := storetest.CSVInto("ada", nil)
		o.SkipBad, o.CSV.Items, o.CSV.Set = true, map[string]int64{"xyzab": 7}, map[string]string{"license": "Regular"}
		_, bad := f.ImportText(t, header+row("A-001", "7")+row("A-002", " rain ")+row("A-003", "Rain (Extended)")+row("A-004", "Twins")+row("A-005", "Snow")+row("A-006", "XYZAB")+row("A-007", "Rain - Extended License"), o)
		wantLines(t, bad, map[int]string{5: `2 items are called "Twins"; say which one it is`, 6: `"Snow" is neither the id nor the name of an item; say which item it is`})
		for _, p := range purchasesOf(t, f) {
			if p.ItemID != 7 || (p.License == "Extended") != (p.Code == "A-003" || p.Code == "A-007") {
				t.Errorf("%s: item %d, %s", p.Code, p.ItemID, p.License)
			}
		}
	})
}

func TestARowThatNamesTwoLicensesIsRejected(t *testing.T) {
	storetest.EitherShops(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, storetest.Lines(storetest.ItemText("ada", 7, `"name":"Rain"`)))
		rows := []struct{ item, variant, license, want string }{
			{"Rain (Extended)", "", "Regular", `"Rain (Extended)" and "Regular"`},
			{"Rain - Regular License", "", "Extended", `"Rain - Regular License" and "Extended"`},
			{"Rain", "(Extended)", "Regular", `"(Extended)" and "Regular"`},
			{"Rain [Regular]", "Site - Extended", "", `"Site - Extended" and "Rain [Regular]"`},
			{"Rain", "Regular / Extended", "", "cell"}, {"Rain", "", "Regular / Extended", "cell"}, {"Rain", "Site, Extended and Regular License", "", "cell"}, {"Rain", "regular extended", "", "cell"},
			{"Rain (Regular / Extended)", "", "", "cell"}, {"Rain - Regular | Extended", "", "", "cell"}, {"Rain", "Regular, 12 months of Extended support", "", ""}, {"Rain", "", "Regular License or Regular", ""},
			{"Rain (Extended)", "Extended", "Extended License", ""}, {"Rain (Extended)", "", "", ""}, {"Rain", "Extended support", "Regular", ""},
		}
		file, wrong := "code,item,variant,license,currency,date\n", map[int]string{}
		for i, r := range rows {
			file += fmt.Sprintf("CODE-%02d,%s,%q,%s,USD,2026-04-27\n", i, r.item, r.variant, r.license)
			switch r.want {
			case "":
			case "cell":
				wrong[i+2] = fmt.Sprintf("the cell %q names two licenses; write the one that was sold", cmp.Or(r.variant, r.license, r.item))
			default:
				wrong[i+2] = "the row names two licenses, " + r.want
			}
		}
		o := storetest.CSVInto("ada", nil)
		o.SkipBad = true
		_, bad := f.ImportText(t, file, o)
		wantLines(t, bad, wrong)
		expect.Equal(t, codesAndLicenses(t, f), "CODE-10 Regular CODE-11 Regular CODE-12 Extended CODE-13 Extended CODE-14 Regular")
	})
}

func codesAndLicenses(t *testing.T, f *storetest.Fixture) string {
	t.Helper()
	all := sqldb.Convert(purchasesOf(t, f), func(p storedb.Purchase) string { return p.Code + " " + p.License })
	slices.Sort(all)
	return strings.Join(all, " ")
}

func TestSeveralCodesInACellAreSplitWhenAskedTo(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		o := storetest.CSVInto("ada", nil)
		o.SkipBad = true
		file := "code,item_id,license,currency,date,price\n" + "\"MANY-1, MANY-2;many-1\nMANY-3\",1,Regular,USD,2026-04-27,100\n\"OTHER-1,OTHER-2\",1,Regular,USD,2026-04-27,2\nOTHER-2,1,Regular,USD,2026-04-27,3\n"
		_, bad := f.ImportText(t, file, o)
		wantLines(t, bad, map[int]string{2: "the cell has 4 purchase codes; write a row for each, or have the row split", 4: "the cell has 2 purchase codes", 5: "line 4 has this purchase code, too, and was left out or rejected"})
		o.CSV.Split = true
		report, bad := f.ImportText(t, file, o)
		differ := "the lines 4 and 5 have the same purchase code and differ in price"
		wantLines(t, bad, map[int]string{4: differ, 5: differ})
		var got []string
		for _, p := range purchasesOf(t, f) {
			got = append(got, p.Code+" "+p.Price.String())
		}
		slices.Sort(got)
		if want := "MANY-1 33.34 MANY-2 33.33 MANY-3 33.33"; strings.Join(got, " ") != want {
			t.Errorf("%q, want %s", got, want)
		}
		if report.Lines != 3 || report.Split != 2 || report.Purchases.New != 3 || report.Purchases.Changed+report.Purchases.Same != 0 {
			t.Errorf("%+v", report)
		}
	})
}

func TestAStatementWithoutCodesIsRefused(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		file := "Date,Order ID,Type,Detail,Item ID,Document,Price,EU VAT,Amount,Site\n2026-04-27,1,Sale,Shop Theme,1,,49.00,,24.50,themes\n"
		_, err := f.Transfer.Import(t.Context(), storetest.Operator, strings.NewReader(file), storetest.CSVInto("ada", nil))
		if !fault.HasCode(err, "csv_statement") || !strings.Contains(fault.Message(err), "It has no purchase codes") {
			t.Error(err)
		}
	})
}

func TestARejectedRowOfAnOrderHasWhatItsFirstRowSays(t *testing.T) {
	s := shopExports[slices.IndexFunc(shopExports, func(s shopExport) bool { return s.name == "shopify" })]
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		var rejected []string
		o := s.options()
		o.Bad = func(_ int, _ string, raw []byte) { rejected = append(rejected, string(raw)) }
		file := strings.Replace(fileOf(s.rows(t)), ",PAID-JJJJ-0009", ",\u201cPAID-JJJJ-0009", 1)
		if _, err := f.Transfer.Import(t.Context(), storetest.Operator, strings.NewReader(file), o); err != nil || len(rejected) != 1 {
			t.Fatal(err, rejected)
		}
		corrected := strings.ReplaceAll(rejected[0], "\u201c", "")
		if report, bad := f.ImportText(t, corrected, s.options()); len(bad) > 0 || report.Purchases.New != 1 {
			t.Errorf("%+v %v:\n%s", report, bad, corrected)
		}
	})
}
