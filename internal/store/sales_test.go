package store_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// sums are the sums that the store keeps, and those of its purchases.
func sums(t *testing.T, f *storetest.Fixture) (kept, counted []string) {
	t.Helper()
	read := func(days, items string) (all []string) {
		for _, query := range []string{days, items} {
			list := must.Get(sqldb.List(t.Context(), f.DB().Queries, func(r sqldb.Row) (string, error) {
				var workspace, item, sold, ended, revenue int64
				var at, currency string
				err := r.Scan(&workspace, &item, &at, &currency, &sold, &ended, &revenue)
				return fmt.Sprint(workspace, item, at, currency, sold, ended, revenue), err
			}, query))(t)
			all = append(all, list...)
		}
		return all
	}
	const sold = `count(*), sum(CASE WHEN state = 'active' THEN 0 ELSE 1 END), CAST(sum(price) AS bigint) FROM purchases GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`
	return read(`SELECT workspace_id, 0, day, currency, sold, ended, revenue FROM sales_days WHERE sold <> 0 OR ended <> 0 OR revenue <> 0 ORDER BY 1, 2, 3, 4`,
			`SELECT workspace_id, item_id, month, currency, sold, ended, revenue FROM sales_items WHERE sold <> 0 OR ended <> 0 OR revenue <> 0 ORDER BY 1, 2, 3, 4`),
		read(`SELECT workspace_id, 0, substr(sold_at, 1, 10), currency, `+sold, `SELECT workspace_id, item_id, substr(sold_at, 1, 7), currency, `+sold)
}

func wantSums(t *testing.T, f *storetest.Fixture) {
	t.Helper()
	kept, counted := sums(t, f)
	if diff := cmp.Diff(counted, kept); diff != "" || len(kept) == 0 {
		t.Errorf("%d sums: %s", len(kept), diff)
	}
	wantSalesByItem(t, f)
}

// wantSalesByItem compares the sales of whole months with their purchases.
func wantSalesByItem(t *testing.T, f *storetest.Fixture) {
	t.Helper()
	ada := must.Get(f.Workspace(t.Context(), storetest.Operator, "ada"))(t)
	for _, year := range []int{2024, 2025, 2026} {
		from := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		until := from.AddDate(1, 0, 0)
		want := must.Get(f.DB().SalesByItem(t.Context(), ada.ID, from, until))(t)
		got, err := f.Sales(t.Context(), storetest.Operator, "ada", store.SalesQuery{From: countersign.At(from), Until: countersign.At(until), By: store.SalesByItem})
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%d: %v %s", year, err, diff)
		}
	}
}

func TestSumsOfSalesFollowEveryChangeOfAPurchase(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		ctx := t.Context()
		id, _, _ := f.ImportToUndo(t) // adds and changes purchases
		wantSums(t, f)
		sold, err := f.CreatePurchase(ctx, storetest.Operator, "ada", store.Purchase{ItemID: 1, License: "Regular", Price: 700, Currency: "EUR", Code: "sum-1"})
		must.Do(t, err)
		wantSums(t, f)
		for _, state := range []store.State{store.StateRefunded, store.StateActive, store.StateChargedBack, store.StateRevoked} {
			if state == store.StateActive {
				_, err = f.RestorePurchase(ctx, storetest.Operator, sold.Code)
			} else {
				_, err = f.EndPurchase(ctx, storetest.Operator, sold.Code, state)
			}
			if err != nil {
				t.Fatal(state, err)
			}
			wantSums(t, f)
			if state == store.StateChargedBack {
				if _, err = f.RestorePurchase(ctx, storetest.Operator, sold.Code); err != nil {
					t.Fatal(err)
				}
			}
		}
		must.Get(f.Transfer.Undo(ctx, storetest.Operator, id, false))(t)
		wantSums(t, f)
		must.Get(f.Rekey(ctx, storetest.Operator))(t)
		wantSums(t, f.Again(t))
	})
}

func TestAMigrationAddsUpSalesOfBefore(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, storetest.Lines(storetest.PurchaseText("ada", 1, "a", `"state":"refunded"`), storetest.PurchaseText("ada", 1, "b")))
		older(t, f)
		s := f.Unprepared(t)
		must.Get(s.Migrate(t.Context()))(t)
		wantSums(t, f)
	})
}

// Months are added, and days added and subtracted, however the time lies.
func TestSalesByItemAreThoseOfTheTime(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		r := rand.New(rand.NewPCG(1, 2))
		start := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
		var text []string
		for i := range 400 {
			text = append(text, storetest.PurchaseText("ada", 1, fmt.Sprintf("sold-%d", i), fmt.Sprintf(`"date":%q`, start.Add(time.Duration(r.IntN(800*24))*time.Hour).Format(time.RFC3339))))
		}
		f.MustImport(t, storetest.Lines(text...))
		ada := must.Get(f.Workspace(t.Context(), storetest.Operator, "ada"))(t)
		for range 60 {
			from := start.AddDate(0, 0, r.IntN(500))
			q := store.SalesQuery{From: countersign.At(from), Until: countersign.At(from.AddDate(0, 0, 1+r.IntN(366))), By: store.SalesByItem}
			var byDay int64
			days := must.Get(f.Sales(t.Context(), storetest.Operator, "ada", store.SalesQuery{From: q.From, Until: q.Until, By: store.SalesByDay}))(t)
			for _, d := range days {
				byDay += d.Count
			}
			items := must.Get(f.Sales(t.Context(), storetest.Operator, "ada", q))(t)
			want, err := f.DB().CountPurchases(t.Context(), ada.ID, storedb.PurchaseFilter{From: q.From, Until: q.Until}, 1000)
			if i := slices.IndexFunc(items, func(s store.Sales) bool { return s.Item == 1 }); err != nil || i < 0 || items[i].Count != want || byDay != want {
				t.Fatalf("%v to %v: %+v, %d by day, want %d, %v", q.From, q.Until, items, byDay, want, err)
			}
		}
	})
}

// bothSay returns the finding of doctor, which is also that of the page Health.
func bothSay(t *testing.T, f *storetest.Fixture, name string) health.Finding {
	t.Helper()
	quick := must.Get(f.Health(t.Context(), storetest.Operator))(t)
	named := func(list []health.Finding) health.Finding {
		return list[slices.IndexFunc(list, func(one health.Finding) bool { return one.Name == name })]
	}
	full := named(f.Doctor(t.Context()))
	if q := named(quick); q != full {
		t.Errorf("the page says %+v, and doctor %+v", q, full)
	}
	return full
}

func TestDoctorComparesSumsOfSales(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, storetest.Lines(storetest.PurchaseText("ada", 1, "a-code")))
		find := func() health.Finding { return bothSay(t, f, "sums of sales") }
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
				f.Execute(t, spoil[i])
				if got := find(); (got.Level == health.Fail) != wrong {
					t.Errorf("%s: %v", spoil[i], got)
				}
			}
		}
	})
}
