package transfer_test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/store/transfer"
)

// Every line is new, changed, unchanged, repeated or rejected.
func TestLinesThatContradictEachOtherAreRejected(t *testing.T) {
	csv := func(rows ...string) string {
		return "Purchase Code,Item ID,License,Price,Currency,Date,State,Buyer\n" + strings.Join(rows, "\n") + "\n"
	}
	const (
		sold      = "ONE,1,Regular,49.00,USD,2026-04-27,paid,Grace"
		lowerCase = "one,1,Regular,49.00,USD,2026-04-27,paid,Grace"
		cheaper   = "ONE,1,Regular,39.00,USD,2026-04-27,paid,Hal"
		refunded  = "ONE,1,Regular,49.00,USD,2026-04-27,refunded,Grace"
		other     = "TWO,1,Regular,49.00,USD,2026-04-27,paid,Grace"
	)
	const same = "have the same purchase code and differ in "
	cases := []struct {
		name, file string
		want       transfer.Moved
		bad        map[int]string
		good       string // codes that are in the store afterwards
	}{
		{"a row that repeats another", csv(sold, other, sold), transfer.Moved{New: 2, Repeated: 1}, nil, "ONE TWO"},
		{"a code in other letter case", csv(sold, lowerCase), transfer.Moved{New: 1, Repeated: 1}, nil, "ONE"},
		{"two prices and two buyers", csv(sold, cheaper, other), transfer.Moved{New: 1},
			map[int]string{2: "the lines 2 and 3 " + same + "price, buyer_name", 3: "the lines 2 and 3 " + same + "price, buyer_name"}, "TWO"},
		{"a sale and its refund", csv(refunded, sold), transfer.Moved{}, map[int]string{2: "the lines 2 and 3 " + same + "state", 3: "the lines 2 and 3 " + same + "state"}, ""},
		{"four rows", csv(sold, cheaper, sold, refunded), transfer.Moved{},
			map[int]string{2: "lines 2 and 3", 3: "lines 2 and 3", 4: "lines 2 and 3", 5: "the lines 2 and 5 " + same + "state"}, ""},
		{"JSON Lines", storetest.Lines(storetest.PurchaseText("ada", 1, "ONE"), storetest.PurchaseText("ada", 1, "ONE"), storetest.PurchaseText("ada", 1, "TWO"), storetest.PurchaseText("ada", 2, "two")),
			transfer.Moved{New: 1, Repeated: 1}, map[int]string{3: "the lines 3 and 4 " + same + "item_id", 4: "the lines 3 and 4"}, "ONE"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			storetest.EitherShops(t, func(t *testing.T, f *storetest.Fixture) {
				o := transfer.ImportOptions{SkipBad: true}
				if strings.HasPrefix(c.file, "Purchase Code") {
					o = storetest.CSVInto("ada", nil)
					o.SkipBad = true
				}
				report, bad := f.ImportText(t, c.file, o)
				if report.Purchases != c.want || report.Bad != len(c.bad) || !report.Written {
					t.Errorf("%+v", report)
				}
				wantLines(t, bad, c.bad)
				if m := report.Purchases; m.New+m.Changed+m.Same+m.Repeated+int64(report.Bad) != int64(report.Lines) {
					t.Errorf("the counts of %d lines: %+v, %d bad", report.Lines, m, report.Bad)
				}
				for _, code := range []string{"ONE", "TWO"} {
					if r, err := f.Validation.Check(t.Context(), storetest.Operator, code); err != nil || (r.Purchase.ID != 0) != strings.Contains(c.good, code) {
						t.Errorf("%s: %+v, %v", code, r.Purchase, err)
					}
				}
			})
		})
	}
}

// wantLines compares rejected lines with those expected, each with a part of its reason.
func wantLines(t *testing.T, got []storetest.Rejected, want map[int]string) {
	t.Helper()
	for _, r := range got {
		if part, ok := want[r.Line]; !ok || !strings.Contains(r.Reason, part) {
			t.Errorf("line %d: %q, want %q", r.Line, r.Reason, part)
		}
	}
	expect.Equalf(t, len(got), len(want), "lines were rejected: %v", got)
}

func TestOfOtherLinesThatContradictEachOtherTheFirstIsWritten(t *testing.T) {
	license := func(domain string) string {
		return `{"type":"license","id":"lic-1","purchase_code":"ONE","domain":"` + domain + `","issued_at":"2026-04-27T12:00:00Z"}`
	}
	first := []string{storetest.WorkspaceText("eve"), storetest.KeyText("eve", "k", `"key":"first-key-of-many"`), storetest.ItemText("eve", 77), storetest.PurchaseText("eve", 77, "ONE"),
		license("one.example")}
	second := []string{storetest.WorkspaceText("eve", `"email":"new@shop.example"`), storetest.KeyText("eve", "k", `"key":"second-key-of-many"`), storetest.ItemText("eve", 77, `"name":"new"`),
		license("two.example")}
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		file := storetest.Lines(append(append(append([]string{}, first...), first...), second...)...)
		report, bad := f.ImportText(t, file, transfer.ImportOptions{SkipBad: true})
		once := transfer.Moved{New: 1, Repeated: 1}
		for name, m := range map[string]transfer.Moved{"workspaces": report.Workspaces, "keys": report.Keys, "items": report.Items, "purchases": report.Purchases, "licenses": report.Licenses} {
			expect.Equalf(t, m, once, "%s", name)
		}
		wantLines(t, bad, map[int]string{
			11: "the lines 1 and 11 have the same name and differ", 12: "the lines 2 and 12 have the same name and differ",
			13: "the lines 3 and 13 have the same id and differ in name", 14: "the lines 5 and 14 have the same id and differ in domain",
		})
	})
}
