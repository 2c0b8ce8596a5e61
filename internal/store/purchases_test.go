package store

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/countersign/countersign"
)

func TestCreatePurchase(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		_, token := f.mustCreate(t, NewKey{Workspace: "ada"})
		actor := f.actorOf(t, token)
		cases := []struct {
			name     string
			purchase Purchase
			want     string // code of the error
			price    countersign.Money
			currency string
		}{
			{"price and currency not given are the item's", Purchase{ItemID: 1, License: "Regular"}, "", 4900, "USD"},
			{"the price of a license is the item's for it", Purchase{ItemID: 1, License: "Extended"}, "", 19900, "USD"},
			{"a price given stays", Purchase{ItemID: 1, License: "Regular", Price: 1000, Currency: "EUR"}, "", 1000, "EUR"},
			{"nothing paid stays nothing when the currency is given", Purchase{ItemID: 1, License: "Regular", Currency: "USD"}, "", 0, "USD"},
			{"a code given stays", Purchase{ItemID: 1, License: "Regular", Code: " My-Code "}, "", 4900, "USD"},
			{"a code in other letters is taken", Purchase{ItemID: 1, License: "Regular", Code: "MY-CODE"}, "purchase_exists", 0, ""},
			{"an unknown item", Purchase{ItemID: 99, License: "Regular"}, "item_not_found", 0, ""},
			{"another workspace's item", Purchase{ItemID: 3, License: "Regular"}, "item_not_found", 0, ""},
			{"an unknown license", Purchase{ItemID: 1, License: "regular"}, "invalid", 0, ""},
			{"a negative price", Purchase{ItemID: 1, License: "Regular", Price: -1, Currency: "USD"}, "invalid", 0, ""},
			{"an impossible code", Purchase{ItemID: 1, License: "Regular", Code: "é"}, "invalid", 0, ""},
		}
		for _, c := range cases {
			before := f.rows(t, "purchases")
			made, err := f.CreatePurchase(t.Context(), operator, "ada", c.purchase)
			if codeOf(err) != c.want {
				t.Errorf("%s: %v, want the code %q", c.name, err, c.want)
			}
			if err != nil {
				if f.rows(t, "purchases") != before {
					t.Errorf("%s: a purchase was written", c.name)
				}
				continue
			}
			valid, err := f.Validation.Validate(t.Context(), actor, made.Code)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if p := read(t, valid); p.Price != c.price || p.Currency != c.currency || p.Date.String() != "2026-11-01T12:00:00Z" {
				t.Errorf("%s: %+v", c.name, p)
			}
		}
		if _, err := f.CreatePurchase(t.Context(), operator, "eve", Purchase{}); codeOf(err) != "workspace_not_found" {
			t.Errorf("an unknown workspace: %v", err)
		}
	})
}

func TestRefundIsDoneOnce(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		f.mustImport(t, soldCodes())
		before := len(f.audits(t))
		other := f.again(t)
		var refunds atomic.Int64
		var work sync.WaitGroup
		for i := range 8 {
			store := []*fixture{f, other}[i%2]
			work.Go(func() {
				p, err := store.EndPurchase(t.Context(), operator, "CODE-1-ACTIVE", StateRefunded)
				switch {
				case err == nil && p.State == StateRefunded && p.StateAt == countersign.At(noon):
					refunds.Add(1)
				case codeOf(err) == "purchase_refunded" && strings.HasSuffix(messageOf(err), "this purchase was refunded on 2026-11-01"):
				default:
					t.Errorf("%+v, %v", p, err)
				}
			})
		}
		work.Wait()
		if refunds.Load() != 1 || len(f.audits(t)) != before+1 {
			t.Errorf("%d refunds, audit %q", refunds.Load(), f.audits(t)[before:])
		}
		_, err := f.EndPurchase(t.Context(), operator, "code-1-revoked", StateRefunded)
		wantError(t, err, "purchase_revoked")
		_, err = f.EndPurchase(t.Context(), operator, "nowhere", StateRefunded)
		wantError(t, err, "purchase_not_found")
	})
}

func TestRestorePurchase(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		f.mustImport(t, soldCodes()+lines(purchaseText("ada", 1, "dated", `"state":"charged_back"`, `"state_at":"2026-10-02T23:59:59Z"`)))
		_, token := f.mustCreate(t, NewKey{Workspace: "ada"})
		f = f.withCache(t)
		f.run(t)
		actor := f.actorOf(t, token)
		cases := []struct{ code, want, before string }{
			{"CODE-1-refunded", "", "refunded since an unknown time"},
			{"code-1-charged_back", "", "charged_back since an unknown time"},
			{"code-1-revoked", "", "revoked since an unknown time"},
			{"dated", "", "charged_back since 2026-10-02T23:59:59Z"},
			{"dated", "purchase_active", ""},
			{"code-1-active", "purchase_active", ""},
			{"nowhere", "purchase_not_found", ""},
		}
		for _, c := range cases {
			written := len(f.audits(t))
			_, _ = f.Validation.Validate(t.Context(), actor, c.code) // is cached as it was
			p, err := f.RestorePurchase(t.Context(), operator, c.code)
			if codeOf(err) != c.want {
				t.Errorf("%s: %v, want the code %q", c.code, err, c.want)
			}
			if err != nil {
				if len(f.audits(t)) != written {
					t.Errorf("%s: an entry in the audit log", c.code)
				}
				continue
			}
			if p.State != StateActive || !p.StateAt.IsZero() {
				t.Errorf("%s: %+v", c.code, p)
			}
			if _, err := f.Validation.Validate(t.Context(), actor, c.code); err != nil {
				t.Errorf("%s: %v", c.code, err)
			}
			if e := f.newestAudit(t); e.Action != "purchase.restore" || e.Workspace != "ada" || e.Subject != idText(p.ID) || e.Before != c.before || e.After != "active" {
				t.Errorf("%s: %+v", c.code, e)
			}
		}
	})
}

func TestSetPurchase(t *testing.T) {
	sold := func(change func(*PurchaseTerms)) PurchaseTerms {
		terms := PurchaseTerms{License: "Regular"}
		change(&terms)
		return terms
	}
	support := at("2027-04-27T12:00:00Z")
	cases := []struct {
		name          string
		change        func(*PurchaseTerms)
		want          string // code of the error
		before, after string // of the entry in the audit log; "" for none
	}{
		{"support", func(p *PurchaseTerms) { p.SupportedUntil = support }, "", "supported until: none", "supported until: 2027-04-27T12:00:00Z"},
		{"the license type", func(p *PurchaseTerms) { p.License = "Extended" }, "", "license: Regular", "license: Extended"},
		{"all of them", func(p *PurchaseTerms) {
			*p = PurchaseTerms{License: "Extended", SupportedUntil: support, Downloaded: true}
		}, "",
			"license: Regular, supported until: none, downloaded: false", "license: Extended, supported until: 2027-04-27T12:00:00Z, downloaded: true"},
		{"what it is already", func(p *PurchaseTerms) { p.License = "Regular" }, "", "", ""},
		{"an unknown license", func(p *PurchaseTerms) { p.License = "Lifetime" }, "invalid", "", ""},
		{"support that ends before the sale", func(p *PurchaseTerms) { p.SupportedUntil = at("2024-04-26T00:00:00Z") }, "invalid", "", ""},
	}
	shops(t, func(t *testing.T, f *fixture) {
		_, token := f.mustCreate(t, NewKey{Workspace: "ada"})
		f = f.withCache(t)
		f.run(t)
		actor := f.actorOf(t, token)
		for i, c := range cases {
			code := "code-" + text(i)
			f.mustImport(t, lines(purchaseText("ada", 1, code)))
			was, err := f.Validation.Validate(t.Context(), actor, code) // and caches it
			wantError(t, err, "")
			written := len(f.audits(t))
			_, err = f.SetPurchase(t.Context(), operator, code, c.change)
			if codeOf(err) != c.want {
				t.Errorf("%s: %v, want the code %q", c.name, err, c.want)
			}
			is, err := f.Validation.Validate(t.Context(), actor, code)
			wantError(t, err, "")
			if c.after == "" {
				if is != was || len(f.audits(t)) != written {
					t.Errorf("%s: something changed: %+v", c.name, is)
				}
				continue
			}
			if got := read(t, is); termsOf(got) != sold(c.change) {
				t.Errorf("%s: printed as %+v", c.name, termsOf(got))
			}
			if e := f.newestAudit(t); e.Action != "purchase.set" || e.Workspace != "ada" || e.Before != c.before || e.After != c.after {
				t.Errorf("%s: %+v", c.name, e)
			}
		}
		_, err := f.SetPurchase(t.Context(), operator, "nowhere", func(*PurchaseTerms) {})
		wantError(t, err, "purchase_not_found")
	})
}

// termsOf is what a client reads of a purchase's terms.
func termsOf(p countersign.Purchase) PurchaseTerms {
	terms := PurchaseTerms{License: p.LicenseType, Downloaded: p.Downloaded}
	if p.SupportedUntil != nil {
		terms.SupportedUntil = *p.SupportedUntil
	}
	return terms
}

// An import took support that ends before the sale. The other terms of such a purchase
// can still be changed.
func TestSetPurchaseLeavesOddSupportAlone(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		f.mustImport(t, lines(purchaseText("ada", 1, "odd", `"supported_until":"2020-01-01T00:00:00Z"`)))
		p, err := f.SetPurchase(t.Context(), operator, "odd", func(p *PurchaseTerms) { p.Downloaded = true })
		if err != nil || !p.Downloaded || p.SupportedUntil != at("2020-01-01T00:00:00Z") {
			t.Errorf("%+v, %v", p, err)
		}
	})
}

func TestListOfPurchases(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		f.mustImport(t, lines(
			purchaseText("ada", 1, "old", `"date":"2023-01-01T00:00:00Z"`),
			purchaseText("ada", 2, "new", `"date":"2025-01-01T00:00:00Z"`, `"state":"refunded"`),
			purchaseText("ada", 1, "middle", `"date":"2024-01-01T00:00:00Z"`),
			purchaseText("bob", 3, "another", `"date":"2026-01-01T00:00:00Z"`)))
		cases := []struct {
			name   string
			filter PurchaseFilter
			want   string
		}{
			{"all of the workspace, newest first", PurchaseFilter{}, "new middle old"},
			{"the newest ones", PurchaseFilter{Limit: 2}, "new middle"},
			{"of an item", PurchaseFilter{Item: 1}, "middle old"},
			{"in a state", PurchaseFilter{State: StateRefunded}, "new"},
			{"both", PurchaseFilter{State: StateActive, Item: 1, Limit: 1}, "middle"},
			{"of another workspace's item", PurchaseFilter{Item: 3}, ""},
		}
		for _, c := range cases {
			var codes []string
			err := f.Purchases(t.Context(), operator, "ada", c.filter, func(p Purchase) error {
				codes = append(codes, p.Code)
				return nil
			})
			if got := strings.Join(codes, " "); err != nil || got != c.want {
				t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
			}
		}
		err := f.Purchases(t.Context(), operator, "eve", PurchaseFilter{}, func(Purchase) error { return nil })
		wantError(t, err, "workspace_not_found")
	})
}
