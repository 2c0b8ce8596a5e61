package transfer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/storetest"
)

const refundHeader = "Code,Item,License,Currency,Date,Price,State,Refund of\n"

// refundFile has one refund of the sale n, by its letter. A capital letter is a file that has the sale, too.
func refundFile(n int, letter string) string {
	refunds := map[string]string{"a": "-25.00,refunded", "b": "-24.00,refunded", "c": "-24.00,refunded", "w": ",refunded", "k": "-1.00,chargeback"}
	file := refundHeader
	small := strings.ToLower(letter)
	if small != letter {
		file += saleOf(n)
	}
	return file + fmt.Sprintf("REF-%d-%s,1,Regular,EUR,2026-04-27,%s,SALE-%d\n", n, small, refunds[small], n)
}

func saleOf(n int) string {
	return fmt.Sprintf("SALE-%d,1,Regular,EUR,2026-04-27,49.00,paid,\n", n)
}

// A sale of 49.00 is what the refunds of all files say that were imported and not undone, in any order.
func TestAnUndoneFileOfRefundsDoesNotCount(t *testing.T) {
	cases := []struct{ steps, want string }{
		{"a b -a -b", "active refunded active active"}, {"a b -b -a", "active refunded active active"}, {"b a -a", "active refunded active"}, {"b a -b", "active refunded active"},
		{"a b -a a", "active refunded active refunded"}, {"A B -A -B", "active refunded active active"}, {"A B -B -A", "active refunded active active"}, {"a B -a", "active refunded active"},
		{"a b c -b -c -a", "active refunded refunded refunded active active"}, {"a b C -a -C -b", "active refunded refunded active active active"},
		{"a w -a -w", "active refunded refunded active"}, {"w a b -w", "refunded refunded refunded refunded"}, {"a k -a -k", "active charged_back charged_back active"},
		{"a b restore refund -a", "active refunded active refunded refunded"}, {"refund a b -a -b", "refunded refunded refunded refunded refunded"},
	}
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		sales := refundHeader
		for i := range cases {
			sales += saleOf(i + 1)
		}
		f.ImportText(t, sales, storetest.CSVInto("ada", nil))
		for i, c := range cases {
			sale := fmt.Sprint("SALE-", i+1)
			before, open, ids := f.MustExport(t, false), 0, map[string]int64{}
			var got []string
			for _, step := range strings.Fields(c.steps) {
				f.Clock.Move(time.Second)
				var err error
				switch undone, isUndo := strings.CutPrefix(step, "-"); {
				case isUndo:
					open--
					_, err = f.Transfer.Undo(t.Context(), storetest.Operator, ids[undone], false)
				case step == "restore":
					_, err = f.RestorePurchase(t.Context(), storetest.Operator, sale)
				case step == "refund":
					_, err = f.EndPurchase(t.Context(), storetest.Operator, sale, store.StateRefunded)
				default:
					open++
					report, bad := f.ImportText(t, refundFile(i+1, step), storetest.CSVInto("ada", nil))
					if ids[step] = report.ID; len(bad) > 0 || report.ID == 0 {
						t.Fatalf("%s: %+v, %v", c.steps, report, bad)
					}
				}
				if err != nil {
					t.Fatalf("%s: %v", c.steps, err)
				}
				got = append(got, string(f.Purchase(t, sale).State))
			}
			expect.Equalf(t, strings.Join(got, " "), c.want, "%s", c.steps)
			if after := f.MustExport(t, false); open == 0 && !strings.Contains(c.steps, "re") && after != before {
				t.Errorf("%s: %s", c.steps, storetest.FirstDifference(before, after))
			}
		}
	})
}

func TestAnUndoneSaleDoesNotLoseTheRefundsOfOtherFiles(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		first, _ := f.ImportText(t, refundFile(1, "A"), storetest.CSVInto("ada", nil))
		second, _ := f.ImportText(t, refundFile(1, "c"), storetest.CSVInto("ada", nil))
		report, err := f.Transfer.Undo(t.Context(), storetest.Operator, first.ID, false)
		if err != nil || report.Written || len(report.Left) != 1 || report.Left[0].Why() != "has refunds of another import since" {
			t.Fatalf("%+v, %v", report, err)
		}
		if report, err = f.Transfer.Undo(t.Context(), storetest.Operator, first.ID, true); err != nil || !report.Written {
			t.Fatalf("%+v, %v", report, err)
		}
		if _, err = f.Transfer.Undo(t.Context(), storetest.Operator, second.ID, false); err != nil {
			t.Fatal(err)
		}
		f.ImportText(t, refundFile(1, "b"), storetest.CSVInto("ada", nil))
		expect.Equalf(t, codesAndStates(t, f), "SALE-1 refunded", "25.00 of the sale that stayed, and 24.00")
	})
}

// Rows of refunds that say the same in two files may be one refund or two: they count once, and are named.
func TestRefundsThatCannotBeToldApartAreNamed(t *testing.T) {
	row := func(id string) string { return ",1,Regular,EUR,2026-04-27,-24.50,refunded,SALE-1," + id + "\n" }
	header := strings.TrimSpace(refundHeader) + ",Refund ID\n"
	cases := []struct {
		name     string
		files    []string
		repeated []int // lines of the last file
		want     string
	}{
		{"twice in one file are two", []string{row("") + row("")}, nil, "refunded"},
		{"in two files", []string{row(""), row("")}, []int{2}, "active"},
		{"a file again", []string{row("") + row(""), row("") + row("")}, []int{2, 3}, "refunded"},
		{"one more than before", []string{row(""), row("") + row("")}, []int{2}, "refunded"},
		{"with ids", []string{row("re-1"), row("re-2")}, nil, "refunded"},
		{"with one id", []string{row("re-1"), row("RE-1")}, nil, "active"},
		{"one id twice in a file", []string{row("re-1") + row("re-1")}, nil, "active"},
	}
	storetest.EitherShops(t, func(t *testing.T, f *storetest.Fixture) {
		for i, c := range cases {
			sale := fmt.Sprint("SALE-", i+1)
			f.ImportText(t, refundHeader+saleOf(i+1), storetest.CSVInto("ada", nil))
			for j, rows := range c.files {
				for _, dry := range []bool{true, false} {
					o := storetest.CSVInto("ada", nil)
					o.DryRun = dry
					report, bad := f.ImportText(t, header+strings.ReplaceAll(rows, "SALE-1", sale), o)
					if j == len(c.files)-1 && (len(bad) > 0 || report.RepeatedRefunds.Count != len(c.repeated) || !slices.Equal(report.RepeatedRefunds.Lines, c.repeated)) {
						t.Errorf("%s: %+v, %v", c.name, report.RepeatedRefunds, bad)
					}
				}
			}
			if got := f.Purchase(t, sale).State; string(got) != c.want {
				t.Errorf("%s: %s, want %s", c.name, got, c.want)
			}
		}
		o := storetest.CSVInto("ada", nil)
		o.SkipBad = true
		_, bad := f.ImportText(t, header+strings.Replace(row("re-9"), "-24.50,refunded,SALE-1", "49.00,paid,", 1), o)
		wantLines(t, bad, map[int]string{2: "the row has the id of a refund and does not say what was paid back"})
	})
}
