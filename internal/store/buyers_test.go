package store

import (
	"slices"
	"testing"
)

func TestBuyersAreFoundByTheBeginningOfTheirNames(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		for n, b := range [][2]string{{"Grace Hopper", "grace@home.example"}, {"GRACE", "hopper@home.example"}, {"Ömer_%", "o@home.example"}, {"", "gr@home.example"}, {"", ""}} {
			_, err := f.CreatePurchase(t.Context(), operator, "ada", Purchase{
				ItemID: 1, License: "Regular", Code: "sold-to-" + text(n), BuyerName: b[0], BuyerEmail: b[1], SoldAt: at("2026-0" + text(n+1) + "-01T00:00:00Z"),
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		f.mustImport(t, lines(purchaseText("bob", 3, "of-another-shop", `"buyer":{"name":"Grace","email":"grace@home.example"}`)))
		staff := f.staff(t)
		for who, all := range map[string]map[string][]string{
			"manager": {
				"grace": {"sold-to-1", "sold-to-0"}, " GR ": {"sold-to-3", "sold-to-1", "sold-to-0"}, "Grace H": {"sold-to-0"}, "hopper": {"sold-to-1"},
				"Öm": {"sold-to-2"}, "%": nil, "": nil, "zz": nil, "O@home.example": {"sold-to-2"},
			},
			"viewer": {"gr": {"sold-to-1", "sold-to-0"}, "hopper": nil, "o@": nil},
		} {
			for typed, want := range all {
				found, err := f.FindBuyer(t.Context(), staff[who], "ada", typed)
				if err != nil {
					t.Fatal(err)
				}
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
	shops(t, func(t *testing.T, f *fixture) {
		var all []string
		for n := range 130 {
			all = append(all, purchaseText("ada", 1, "many-"+text(n), `"buyer":{"name":"Grace `+text(n)+`","email":"grace@home.example"}`))
		}
		f.mustImport(t, lines(all...))
		found, err := f.FindBuyer(t.Context(), operator, "ada", "grace")
		if err != nil || len(found.Purchases) != 100 || !found.More {
			t.Errorf("%d purchases, more %t, %v", len(found.Purchases), found.More, err)
		}
	})
}
