package transfer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/fault"
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
		{"words of a column", "Payment status", []string{"A,paid", "B,Refunded", "C,chargeback", "D,failed", "E,cancelled", "F,Cancelled", "G,disabled", "H,"}, transfer.CSVOptions{},
			"A active B refunded C charged_back G revoked H active", "failed 1 cancelled 2", nil},
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
				if got := strings.Join(skipped, " "); got != c.skipped {
					t.Errorf("skipped %q, want %q", got, c.skipped)
				}
				if got := codesAndStates(t, f); got != c.want {
					t.Errorf("%s, want %s", got, c.want)
				}
			})
		})
	}
}

func codesAndStates(t *testing.T, f *storetest.Fixture) string {
	t.Helper()
	var all []string
	err := f.Purchases(t.Context(), storetest.Operator, "ada", store.PurchaseFilter{}, func(p store.Purchase) error {
		all = append(all, p.Code+" "+string(p.State))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func TestAColumnThatMayEndCodesIsNotIgnoredByTheWay(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		cases := []struct{ name, header, cell, want string }{
			{"by its name", "Refunded?", "no", `The column "Refunded?" is ignored, but it may say that a sale was refunded`},
			{"a status", "Shipping status", "sent", `The column "Shipping status" is ignored`},
			{"by a value", "Note", "Disputed", `The column "Note" is ignored, but line 2 has "Disputed" in it`},
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
		if got := codesAndStates(t, f); got != "A active" {
			t.Error(got)
		}
	})
}
