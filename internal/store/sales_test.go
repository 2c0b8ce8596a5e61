package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// sums are the sums that the store keeps, and those of its purchases.
func (f *fixture) sums(t *testing.T) (kept, counted []string) {
	t.Helper()
	read := func(days, items string) (all []string) {
		for _, query := range []string{days, items} {
			list, err := sqldb.List(t.Context(), f.db.Queries, func(r sqldb.Row) (string, error) {
				var workspace, item, sold, ended, revenue int64
				var at, currency string
				err := r.Scan(&workspace, &item, &at, &currency, &sold, &ended, &revenue)
				return fmt.Sprint(workspace, item, at, currency, sold, ended, revenue), err
			}, query)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, list...)
		}
		return all
	}
	const sold = `count(*), sum(CASE WHEN state = 'active' THEN 0 ELSE 1 END), CAST(sum(price) AS bigint) FROM purchases GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`
	return read(`SELECT workspace_id, 0, day, currency, sold, ended, revenue FROM sales_days WHERE sold <> 0 OR ended <> 0 OR revenue <> 0 ORDER BY 1, 2, 3, 4`,
			`SELECT workspace_id, item_id, month, currency, sold, ended, revenue FROM sales_items WHERE sold <> 0 OR ended <> 0 OR revenue <> 0 ORDER BY 1, 2, 3, 4`),
		read(`SELECT workspace_id, 0, substr(sold_at, 1, 10), currency, `+sold, `SELECT workspace_id, item_id, substr(sold_at, 1, 7), currency, `+sold)
}

func (f *fixture) wantSums(t *testing.T) {
	t.Helper()
	kept, counted := f.sums(t)
	if diff := cmp.Diff(counted, kept); diff != "" || len(kept) == 0 {
		t.Errorf("%d sums: %s", len(kept), diff)
	}
	f.wantSalesByItem(t)
}

// wantSalesByItem compares the sales of whole months with their purchases.
func (f *fixture) wantSalesByItem(t *testing.T) {
	t.Helper()
	ada, err := f.Workspace(t.Context(), operator, "ada")
	if err != nil {
		t.Fatal(err)
	}
	for _, year := range []int{2024, 2025, 2026} {
		from := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		until := from.AddDate(1, 0, 0)
		want, err := f.db.SalesByItem(t.Context(), ada.ID, from, until)
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.Sales(t.Context(), operator, "ada", SalesQuery{From: countersign.At(from), Until: countersign.At(until), By: SalesByItem})
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%d: %v %s", year, err, diff)
		}
	}
}

func TestSumsOfSalesFollowEveryChangeOfAPurchase(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		id, _, _ := f.importToUndo(t) // adds and changes purchases
		f.wantSums(t)
		sold, err := f.CreatePurchase(ctx, operator, "ada", Purchase{ItemID: 1, License: "Regular", Price: 700, Currency: "EUR", Code: "sum-1"})
		if err != nil {
			t.Fatal(err)
		}
		f.wantSums(t)
		for _, state := range []State{StateRefunded, StateActive, StateChargedBack, StateRevoked} {
			if state == StateActive {
				_, err = f.RestorePurchase(ctx, operator, sold.Code)
			} else {
				_, err = f.EndPurchase(ctx, operator, sold.Code, state)
			}
			if err != nil {
				t.Fatal(state, err)
			}
			f.wantSums(t)
			if state == StateChargedBack {
				if _, err = f.RestorePurchase(ctx, operator, sold.Code); err != nil {
					t.Fatal(err)
				}
			}
		}
		if _, err := f.Transfer.Undo(ctx, operator, id, false); err != nil {
			t.Fatal(err)
		}
		f.wantSums(t)
		if _, err := f.Rekey(ctx, operator); err != nil {
			t.Fatal(err)
		}
		f.again(t).wantSums(t)
	})
}

func TestAMigrationAddsUpSalesOfBefore(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		f.mustImport(t, lines(purchaseText("ada", 1, "a", `"state":"refunded"`), purchaseText("ada", 1, "b")))
		f.older(t)
		s := opened(t, optionsOf(f.at, f.clock))
		if _, err := s.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.wantSums(t)
	})
}

// Months are added, and days added and subtracted, however the time lies.
func TestSalesByItemAreThoseOfTheTime(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		r := rand.New(rand.NewPCG(1, 2))
		start := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
		var text []string
		for i := range 400 {
			text = append(text, purchaseText("ada", 1, fmt.Sprintf("sold-%d", i), fmt.Sprintf(`"date":%q`, start.Add(time.Duration(r.IntN(800*24))*time.Hour).Format(time.RFC3339))))
		}
		f.mustImport(t, lines(text...))
		ada, err := f.Workspace(t.Context(), operator, "ada")
		if err != nil {
			t.Fatal(err)
		}
		for range 60 {
			from := start.AddDate(0, 0, r.IntN(500))
			q := SalesQuery{From: countersign.At(from), Until: countersign.At(from.AddDate(0, 0, 1+r.IntN(366))), By: SalesByItem}
			var byDay int64
			days, err := f.Sales(t.Context(), operator, "ada", SalesQuery{From: q.From, Until: q.Until, By: SalesByDay})
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range days {
				byDay += d.Count
			}
			items, err := f.Sales(t.Context(), operator, "ada", q)
			if err != nil {
				t.Fatal(err)
			}
			want, err := f.db.CountPurchases(t.Context(), ada.ID, storedb.PurchaseFilter{From: q.From, Until: q.Until}, 1000)
			if i := slices.IndexFunc(items, func(s Sales) bool { return s.Item == 1 }); err != nil || i < 0 || items[i].Count != want || byDay != want {
				t.Fatalf("%v to %v: %+v, %d by day, want %d, %v", q.From, q.Until, items, byDay, want, err)
			}
		}
	})
}

func TestDoctorComparesSumsOfSales(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		f.mustImport(t, lines(purchaseText("ada", 1, "a-code")))
		find := func() health.Finding {
			all := f.Doctor(t.Context())
			return all[slices.IndexFunc(all, func(one health.Finding) bool { return one.Name == "sums of sales" })]
		}
		if got := find(); got.Level != health.OK {
			t.Error(got)
		}
		for _, spoil := range [][2]string{
			{`UPDATE sales_days SET revenue = revenue + 1`, `UPDATE sales_days SET revenue = revenue - 1`},
			{`UPDATE sales_days SET sold = sold + 1`, `UPDATE sales_days SET sold = sold - 1`},
			{`UPDATE sales_items SET ended = ended + 1`, `UPDATE sales_items SET ended = ended - 1`},
			{`DELETE FROM sales_items`},
		} {
			for i, wrong := range []bool{true, false} {
				if spoil[i] == "" {
					continue
				}
				if _, err := f.db.Exec(t.Context(), spoil[i]); err != nil {
					t.Fatal(err)
				}
				if got := find(); (got.Level == health.Fail) != wrong {
					t.Errorf("%s: %v", spoil[i], got)
				}
			}
		}
	})
}
