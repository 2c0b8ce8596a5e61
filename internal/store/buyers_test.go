package store_test

import (
	"slices"
	"testing"

	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/storetest"
)

func TestBuyersAreFoundByTheBeginningOfTheirNames(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		for n, b := range [][2]string{{"Grace Hopper", "grace@home.example"}, {"GRACE", "hopper@home.example"}, {"Ömer_%", "o@home.example"}, {"", "gr@home.example"}, {"", ""}} {
			must.Get(f.CreatePurchase(t.Context(), storetest.Operator, "ada", store.Purchase{
				ItemID: 1, License: "Regular", Code: "sold-to-" + storetest.Text(n), BuyerName: b[0], BuyerEmail: b[1], SoldAt: storetest.Timestamp("2026-0" + storetest.Text(n+1) + "-01T00:00:00Z"),
			}))(t)
		}
		f.MustImport(t, storetest.Lines(storetest.PurchaseText("bob", 3, "of-another-shop", `"buyer":{"name":"Grace","email":"grace@home.example"}`)))
		staff := f.Staff(t)
		for who, all := range map[string]map[string][]string{
			"manager": {
				"grace": {"sold-to-1", "sold-to-0"}, " GR ": {"sold-to-3", "sold-to-1", "sold-to-0"}, "Grace H": {"sold-to-0"}, "hopper": {"sold-to-1"},
				"Öm": {"sold-to-2"}, "%": nil, "": nil, "zz": nil, "O@home.example": {"sold-to-2"},
			},
			"viewer": {"gr": {"sold-to-1", "sold-to-0"}, "hopper": nil, "o@": nil},
		} {
			for typed, want := range all {
				found := must.Get(f.FindBuyer(t.Context(), staff[who], "ada", typed))(t)
				var got []string
				for _, p := range found.Purchases {
					got = append(got, p.Code)
					if who == "viewer" && p.BuyerEmail != "" {
						t.Errorf("a viewer reads %s", p.BuyerEmail)
					}
				}
				if !slices.Equal(got, want) || found.More {
					t.Errorf("%q as %s: %v, want %v", typed, who, got, want)
				}
			}
		}
	})
}

func TestASearchForABuyerIsBounded(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		var all []string
		for n := range 130 {
			all = append(all, storetest.PurchaseText("ada", 1, "many-"+storetest.Text(n), `"buyer":{"name":"Grace `+storetest.Text(n)+`","email":"grace@home.example"}`))
		}
		f.MustImport(t, storetest.Lines(all...))
		found, err := f.FindBuyer(t.Context(), storetest.Operator, "ada", "grace")
		if err != nil || len(found.Purchases) != 100 || !found.More {
			t.Errorf("%d purchases, more %t, %v", len(found.Purchases), found.More, err)
		}
	})
}
