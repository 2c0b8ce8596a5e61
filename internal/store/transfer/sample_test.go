package transfer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/sample"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/store/transfer"
)

// newLeaf adds a workspace without items.
func newLeaf(t *testing.T, f *storetest.Fixture, username, currency string) {
	t.Helper()
	must.Get(f.CreateWorkspace(t.Context(), storetest.Operator, store.Workspace{Account: countersign.Account{Username: username, Currency: currency}}))(t)
}

func mustLoadSample(t *testing.T, f *storetest.Fixture, workspace string) {
	t.Helper()
	report, err := f.Transfer.LoadSample(t.Context(), storetest.Operator, workspace)
	if err != nil || report.Items.New != 40 || report.Purchases.New != 1200 {
		t.Fatalf("%+v, %v", report, err)
	}
}

// sold lists the purchases of a workspace, newest first.
func sold(t *testing.T, f *storetest.Fixture, workspace string) []store.Purchase {
	t.Helper()
	page := must.Get(f.ListPurchases(t.Context(), storetest.Operator, workspace, store.PurchaseFilter{Limit: 2000}, store.PurchasePlace{}))(t)
	return page.Purchases
}

func TestSampleDataIsTakenBackAtAnyTime(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		newLeaf(t, f, "leaf", "EUR")
		f.MustImport(t, storetest.Lines(storetest.PurchaseText("ada", 1, "of-ada")))
		before := f.MustExport(t, true)
		mustLoadSample(t, f, "leaf")
		if i, err := f.Transfer.Sample(t.Context(), storetest.Operator, "leaf"); err != nil || i == nil {
			t.Errorf("%+v, %v", i, err)
		}
		if newest := sold(t, f, "leaf")[0]; newest.Currency != "EUR" || newest.SoldAt.After(storetest.Noon) || storetest.Noon.Sub(newest.SoldAt.Time) > 30*24*time.Hour {
			t.Errorf("the newest purchase is %+v", newest)
		}
		for _, workspace := range []string{"leaf", "ada"} {
			if _, err := f.Transfer.LoadSample(t.Context(), storetest.Operator, workspace); !fault.HasCode(err, "workspace_not_empty") {
				t.Errorf("%s: %v", workspace, err)
			}
		}
		f.Clock.Set(storetest.Noon.AddDate(1, 0, 0))
		f.MustImport(t, storetest.Lines(storetest.PurchaseText("ada", 1, "later"))) // prunes imports of the year before
		must.Do(t, f.Transfer.Prune(t.Context()))
		must.Get(f.EndPurchase(t.Context(), storetest.Operator, "later", store.StateRevoked))(t)
		report, err := f.Transfer.RemoveSample(t.Context(), storetest.Operator, "leaf")
		if want := (transfer.UndoCounts{Removed: 40}); err != nil || !report.Written || report.Items != want || report.Purchases.Removed != 1200 || len(report.Left) > 0 {
			t.Errorf("%+v, %v", report, err)
		}
		if after := withoutLine(f.MustExport(t, true), `"later"`); after != before {
			t.Error(storetest.FirstDifference(before, after))
		}
		if _, err := f.Transfer.RemoveSample(t.Context(), storetest.Operator, "leaf"); !fault.HasCode(err, "sample_not_found") {
			t.Errorf("the second time: %v", err)
		}
		mustLoadSample(t, f, "leaf")
	})
}

func withoutLine(text, with string) string {
	return strings.Join(slices.DeleteFunc(strings.SplitAfter(text, "\n"), func(line string) bool { return strings.Contains(line, with) }), "")
}

func TestSampleDataThatWasChangedOrUsedStays(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		ctx := t.Context()
		newLeaf(t, f, "leaf", "USD")
		mustLoadSample(t, f, "leaf")
		page, err := f.PageItems(ctx, storetest.Operator, "leaf", store.ItemFilter{Limit: 100})
		if err != nil || len(page.Items) != 40 {
			t.Fatalf("%d items, %v", len(page.Items), err)
		}
		used, edited, keyed := page.Items[0].ID, page.Items[1].ID, page.Items[2].ID
		must.Get(f.CreatePurchase(ctx, storetest.Operator, "leaf", store.Purchase{ItemID: used, License: countersign.LicenseRegular, Code: "somebody's"}))(t)
		must.Get(f.EditItem(ctx, storetest.Operator, edited, "", func(i *store.Item, _ string) error { i.Name = "Mine"; return nil }))(t)
		f.MustCreate(t, store.NewKey{Workspace: "leaf", Name: "app", Class: store.ClassPublishable, Item: keyed})
		active := slices.DeleteFunc(sold(t, f, "leaf"), func(p store.Purchase) bool {
			return p.State != store.StateActive || slices.Contains([]int64{used, edited, keyed}, p.ItemID)
		})
		refunded, licensed := active[0], active[1]
		must.Get(f.EndPurchase(ctx, storetest.Operator, refunded.Code, store.StateRefunded))(t)
		f.Issue(t, licensed.Code, "site.example")
		report, err := f.Transfer.RemoveSample(ctx, storetest.Operator, "leaf")
		if err != nil || !report.Written {
			t.Fatalf("%+v, %v", report, err)
		}
		got := map[string]string{}
		for _, row := range report.Left {
			got[fmt.Sprint(row.Kind, row.ID)] = row.Why()
		}
		for thing, why := range map[string]string{
			fmt.Sprint("item", used): "has purchases or keys since", fmt.Sprint("item", edited): "was changed since", fmt.Sprint("item", keyed): "has purchases or keys since",
			fmt.Sprint("item", refunded.ItemID): "has purchases or keys since", fmt.Sprint("item", licensed.ItemID): "has purchases or keys since",
			fmt.Sprint("purchase", refunded.ID): "was changed since", fmt.Sprint("purchase", licensed.ID): "has a license since",
		} {
			expect.Equalf(t, got[thing], why, "%s", thing)
		}
		var left []string
		for _, p := range sold(t, f, "leaf") {
			left = append(left, p.Code)
		}
		want := []string{"somebody's", refunded.Code, licensed.Code}
		slices.Sort(left)
		slices.Sort(want)
		if !slices.Equal(left, want) {
			t.Errorf("purchases left: %q, want %q", left, want)
		}
		if rest, err := f.PageItems(ctx, storetest.Operator, "leaf", store.ItemFilter{Limit: 100}); err != nil || int64(len(rest.Items)) != report.Items.Left {
			t.Errorf("%d items, %d left, %v", len(rest.Items), report.Items.Left, err)
		}
	})
}

func TestCodesOfSampleDataAreSecret(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		newLeaf(t, f, "leaf", "USD")
		newLeaf(t, f, "twig", "USD")
		mustLoadSample(t, f, "leaf")
		mustLoadSample(t, f, "twig")
		public := sampleText(t, sample.Options{})
		seen := map[string]bool{}
		for _, workspace := range []string{"leaf", "twig"} {
			for _, p := range sold(t, f, workspace) {
				if seen[p.Code] || strings.Contains(public, p.Code) {
					t.Fatalf("the code %s is known", p.Code)
				}
				seen[p.Code] = true
			}
		}
		if got := f.Audits(t); len(got) < 2 || !strings.Contains(strings.Join(got, "\n"), "store.import") {
			t.Errorf("audit %q", got)
		}
	})
}
