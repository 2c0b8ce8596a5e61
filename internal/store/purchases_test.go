package store_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/storetest"
)

func TestCreatePurchase(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		_, token := f.MustCreate(t, store.NewKey{Workspace: "ada"})
		actor := f.ActorOf(t, token)
		cases := []struct {
			name     string
			purchase store.Purchase
			want     string // code of the error
			price    countersign.Money
			currency string
		}{
			{"price and currency not given are the item's", store.Purchase{ItemID: 1, License: "Regular"}, "", 4900, "USD"},
			{"the price of a license is the item's for it", store.Purchase{ItemID: 1, License: "Extended"}, "", 19900, "USD"},
			{"a price given stays", store.Purchase{ItemID: 1, License: "Regular", Price: 1000, Currency: "EUR"}, "", 1000, "EUR"},
			{"nothing paid stays nothing when the currency is given", store.Purchase{ItemID: 1, License: "Regular", Currency: "USD"}, "", 0, "USD"},
			{"a code given stays", store.Purchase{ItemID: 1, License: "Regular", Code: " My-Code "}, "", 4900, "USD"},
			{"a code in other letters is taken", store.Purchase{ItemID: 1, License: "Regular", Code: "MY-CODE"}, "purchase_exists", 0, ""},
			{"an unknown item", store.Purchase{ItemID: 99, License: "Regular"}, "item_not_found", 0, ""},
			{"another workspace's item", store.Purchase{ItemID: 3, License: "Regular"}, "item_not_found", 0, ""},
			{"an unknown license", store.Purchase{ItemID: 1, License: "regular"}, "invalid", 0, ""},
			{"a negative price", store.Purchase{ItemID: 1, License: "Regular", Price: -1, Currency: "USD"}, "invalid", 0, ""},
			{"an impossible code", store.Purchase{ItemID: 1, License: "Regular", Code: "é"}, "invalid", 0, ""},
		}
		for _, c := range cases {
			before := f.Rows(t, "purchases")
			made, err := f.CreatePurchase(t.Context(), storetest.Operator, "ada", c.purchase)
			if storetest.CodeOf(err) != c.want {
				t.Errorf("%s: %v, want the code %q", c.name, err, c.want)
			}
			if err != nil {
				expect.Equalf(t, f.Rows(t, "purchases"), before, "%s: a purchase was written", c.name)
				continue
			}
			valid, err := f.Validation.Validate(t.Context(), actor, made.Code)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if p := storetest.Read(t, valid); p.Price != c.price || p.Currency != c.currency || p.Date.String() != "2026-11-01T12:00:00Z" {
				t.Errorf("%s: %+v", c.name, p)
			}
		}
		if _, err := f.CreatePurchase(t.Context(), storetest.Operator, "eve", store.Purchase{}); storetest.CodeOf(err) != "workspace_not_found" {
			t.Errorf("an unknown workspace: %v", err)
		}
	})
}

func TestRefundIsDoneOnce(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, storetest.SoldCodes())
		before := len(f.Audits(t))
		other := f.Again(t)
		var refunds atomic.Int64
		var work sync.WaitGroup
		for i := range 8 {
			one := []*storetest.Fixture{f, other}[i%2]
			work.Go(func() {
				p, err := one.EndPurchase(t.Context(), storetest.Operator, "CODE-1-ACTIVE", store.StateRefunded)
				switch {
				case err == nil && p.State == store.StateRefunded && p.StateAt == countersign.At(storetest.Noon):
					refunds.Add(1)
				case storetest.CodeOf(err) == "purchase_refunded" && strings.HasSuffix(storetest.MessageOf(err), "this purchase was refunded on 2026-11-01"):
				default:
					t.Errorf("%+v, %v", p, err)
				}
			})
		}
		work.Wait()
		if refunds.Load() != 1 || len(f.Audits(t)) != before+1 {
			t.Errorf("%d refunds, audit %q", refunds.Load(), f.Audits(t)[before:])
		}
		_, err := f.EndPurchase(t.Context(), storetest.Operator, "code-1-revoked", store.StateRefunded)
		storetest.WantError(t, err, "purchase_revoked")
		_, err = f.EndPurchase(t.Context(), storetest.Operator, "nowhere", store.StateRefunded)
		storetest.WantError(t, err, "purchase_not_found")
	})
}

func TestRestorePurchase(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, storetest.SoldCodes()+storetest.Lines(storetest.PurchaseText("ada", 1, "dated", `"state":"charged_back"`, `"state_at":"2026-10-02T23:59:59Z"`)))
		_, token := f.MustCreate(t, store.NewKey{Workspace: "ada"})
		f = f.WithCache(t)
		f.Start(t, f.Instance.Database)
		actor := f.ActorOf(t, token)
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
			written := len(f.Audits(t))
			_, _ = f.Validation.Validate(t.Context(), actor, c.code) // is cached as it was
			p, err := f.RestorePurchase(t.Context(), storetest.Operator, c.code)
			if storetest.CodeOf(err) != c.want {
				t.Errorf("%s: %v, want the code %q", c.code, err, c.want)
			}
			if err != nil {
				expect.Equalf(t, len(f.Audits(t)), written, "%s: an entry in the audit log", c.code)
				continue
			}
			if p.State != store.StateActive || !p.StateAt.IsZero() {
				t.Errorf("%s: %+v", c.code, p)
			}
			if _, err := f.Validation.Validate(t.Context(), actor, c.code); err != nil {
				t.Errorf("%s: %v", c.code, err)
			}
			if e := f.NewestAudit(t); e.Action != "purchase.restore" || e.Workspace != "ada" || e.Subject != store.IDText(p.ID) || e.Before != c.before || e.After != "active" {
				t.Errorf("%s: %+v", c.code, e)
			}
		}
	})
}

func TestSetPurchase(t *testing.T) {
	sold := func(change func(*store.PurchaseTerms)) store.PurchaseTerms {
		terms := store.PurchaseTerms{License: "Regular"}
		change(&terms)
		return terms
	}
	support := storetest.Timestamp("2027-04-27T12:00:00Z")
	cases := []struct {
		name          string
		change        func(*store.PurchaseTerms)
		want          string // code of the error
		before, after string // of the entry in the audit log; "" for none
	}{
		{"support", func(p *store.PurchaseTerms) { p.SupportedUntil = support }, "", "supported until: none", "supported until: 2027-04-27T12:00:00Z"},
		{"the license type", func(p *store.PurchaseTerms) { p.License = "Extended" }, "", "license: Regular", "license: Extended"},
		{"all of them", func(p *store.PurchaseTerms) {
			*p = store.PurchaseTerms{License: "Extended", SupportedUntil: support, Downloaded: true}
		}, "",
			"license: Regular, supported until: none, downloaded: false", "license: Extended, supported until: 2027-04-27T12:00:00Z, downloaded: true"},
		{"what it is already", func(p *store.PurchaseTerms) { p.License = "Regular" }, "", "", ""},
		{"an unknown license", func(p *store.PurchaseTerms) { p.License = "Lifetime" }, "invalid", "", ""},
		{"support that ends before the sale", func(p *store.PurchaseTerms) { p.SupportedUntil = storetest.Timestamp("2024-04-26T00:00:00Z") }, "invalid", "", ""},
	}
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		_, token := f.MustCreate(t, store.NewKey{Workspace: "ada"})
		f = f.WithCache(t)
		f.Start(t, f.Instance.Database)
		actor := f.ActorOf(t, token)
		for i, c := range cases {
			code := "code-" + storetest.Text(i)
			f.MustImport(t, storetest.Lines(storetest.PurchaseText("ada", 1, code)))
			was, err := f.Validation.Validate(t.Context(), actor, code) // and caches it
			storetest.WantError(t, err, "")
			written := len(f.Audits(t))
			_, err = f.SetPurchase(t.Context(), storetest.Operator, code, "", c.change)
			if storetest.CodeOf(err) != c.want {
				t.Errorf("%s: %v, want the code %q", c.name, err, c.want)
			}
			is, err := f.Validation.Validate(t.Context(), actor, code)
			storetest.WantError(t, err, "")
			if c.after == "" {
				if is != was || len(f.Audits(t)) != written {
					t.Errorf("%s: something changed: %+v", c.name, is)
				}
				continue
			}
			if got := storetest.Read(t, is); termsOf(got) != sold(c.change) {
				t.Errorf("%s: printed as %+v", c.name, termsOf(got))
			}
			if e := f.NewestAudit(t); e.Action != "purchase.set" || e.Workspace != "ada" || e.Before != c.before || e.After != c.after {
				t.Errorf("%s: %+v", c.name, e)
			}
		}
		_, err := f.SetPurchase(t.Context(), storetest.Operator, "nowhere", "", func(*store.PurchaseTerms) {})
		storetest.WantError(t, err, "purchase_not_found")
	})
}

// termsOf is what a client reads of a purchase's terms.
func termsOf(p countersign.Purchase) store.PurchaseTerms {
	terms := store.PurchaseTerms{License: p.LicenseType, Downloaded: p.Downloaded}
	if p.SupportedUntil != nil {
		terms.SupportedUntil = *p.SupportedUntil
	}
	return terms
}

// An import took support that ends before the sale. The other terms of such a purchase
// can still be changed.
func TestSetPurchaseLeavesOddSupportAlone(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, storetest.Lines(storetest.PurchaseText("ada", 1, "odd", `"supported_until":"2020-01-01T00:00:00Z"`)))
		p, err := f.SetPurchase(t.Context(), storetest.Operator, "odd", "", func(p *store.PurchaseTerms) { p.Downloaded = true })
		if err != nil || !p.Downloaded || p.SupportedUntil != storetest.Timestamp("2020-01-01T00:00:00Z") {
			t.Errorf("%+v, %v", p, err)
		}
	})
}

func TestListOfPurchases(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, storetest.Lines(
			storetest.PurchaseText("ada", 1, "old", `"date":"2023-01-01T00:00:00Z"`),
			storetest.PurchaseText("ada", 2, "new", `"date":"2025-01-01T00:00:00Z"`, `"state":"refunded"`),
			storetest.PurchaseText("ada", 1, "middle", `"date":"2024-01-01T00:00:00Z"`),
			storetest.PurchaseText("bob", 3, "another", `"date":"2026-01-01T00:00:00Z"`)))
		cases := []struct {
			name   string
			filter store.PurchaseFilter
			want   string
		}{
			{"all of the workspace, newest first", store.PurchaseFilter{}, "new middle old"},
			{"the newest ones", store.PurchaseFilter{Limit: 2}, "new middle"},
			{"of an item", store.PurchaseFilter{Item: 1}, "middle old"},
			{"in a state", store.PurchaseFilter{State: store.StateRefunded}, "new"},
			{"both", store.PurchaseFilter{State: store.StateActive, Item: 1, Limit: 1}, "middle"},
			{"of another workspace's item", store.PurchaseFilter{Item: 3}, ""},
		}
		for _, c := range cases {
			var codes []string
			err := f.Purchases(t.Context(), storetest.Operator, "ada", c.filter, func(p store.Purchase) error {
				codes = append(codes, p.Code)
				return nil
			})
			if got := strings.Join(codes, " "); err != nil || got != c.want {
				t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
			}
		}
		err := f.Purchases(t.Context(), storetest.Operator, "eve", store.PurchaseFilter{}, func(store.Purchase) error { return nil })
		storetest.WantError(t, err, "workspace_not_found")
	})
}

func TestTheBuyerOfAPurchaseIsCorrectedWithoutAppearingInTheLog(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, storetest.Lines(storetest.PurchaseText("ada", 1, "of-grace")))
		for _, c := range []struct{ name, email, before, after string }{
			{"Grace", "grace@home.example", "", "buyer's name: changed, buyer's e-mail: changed"},
			{"Grace", "", "buyer's e-mail: earlier", "buyer's e-mail: none"},
		} {
			p, err := f.SetPurchase(t.Context(), storetest.Operator, "of-grace", "", func(p *store.PurchaseTerms) { p.BuyerName, p.BuyerEmail = c.name, c.email })
			if err != nil || p.BuyerName != c.name || p.BuyerEmail != c.email {
				t.Fatalf("%+v, %v", p, err)
			}
			if e := f.NewestAudit(t); e.After != c.after || (c.before != "" && e.Before != c.before) {
				t.Errorf("%+v", e)
			}
			read, err := f.Validation.Show(t.Context(), storetest.Operator, "of-grace")
			if err != nil || read.Purchase.BuyerName != c.name || read.Purchase.BuyerEmail != c.email {
				t.Errorf("read as %+v, %v", read.Purchase, err)
			}
		}
		if _, err := f.SetPurchase(t.Context(), storetest.Operator, "of-grace", "", func(p *store.PurchaseTerms) { p.BuyerEmail = "grace" }); storetest.CodeOf(err) != "invalid" {
			t.Error(err)
		}
	})
}

// Codes can be guessed by recording purchases: one is refused when another workspace has its code.
func TestRecordedPurchasesRevealLittleOfTheCodesOfOthers(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		var his []string
		for i := range 101 {
			his = append(his, storetest.PurchaseText("bob", 3, fmt.Sprintf("his-%d", i)))
		}
		f.MustImport(t, storetest.Lines(append(his, storetest.PurchaseText("ada", 1, "hers"))...))
		manager := f.MemberOf(t, "ada", store.RoleManager, "manager@shop.example")
		record := func(a people.Actor, code string) string {
			_, err := f.CreatePurchase(t.Context(), a, "ada", store.Purchase{ItemID: 1, License: "Regular", Code: code})
			return storetest.CodeOf(err)
		}
		for i := range 100 {
			for _, code := range []string{"hers", fmt.Sprintf("HIS-%d", i)} {
				if got := record(manager, code); got != "purchase_exists" {
					t.Fatalf("%s: %q", code, got)
				}
			}
		}
		for _, c := range []struct{ rule, code, want string }{
			{"one more code of another workspace", "his-100", "code_clashes"},
			{"a code of nobody is refused as well", "nobody's", "code_clashes"},
			{"a new code is not a guess", "", ""},
		} {
			expect.Equalf(t, record(manager, c.code), c.want, "%s", c.rule)
		}
		expect.Equalf(t, record(storetest.Operator, "his-100"), "purchase_exists", "the operator")
		f.Clock.Set(storetest.Noon.Add(time.Hour))
		expect.Equalf(t, record(manager, "his-100"), "purchase_exists", "an hour later")
	})
}
