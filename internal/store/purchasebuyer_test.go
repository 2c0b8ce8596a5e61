package store

import "testing"

func TestTheBuyerOfAPurchaseIsCorrectedWithoutAppearingInTheLog(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		f.mustImport(t, lines(purchaseText("ada", 1, "of-grace")))
		for _, c := range []struct{ name, email, before, after string }{
			{"Grace", "grace@home.example", "", "buyer's name: changed, buyer's e-mail: changed"},
			{"Grace", "", "buyer's e-mail: earlier", "buyer's e-mail: none"},
		} {
			p, err := f.SetPurchase(t.Context(), operator, "of-grace", func(p *PurchaseTerms) { p.BuyerName, p.BuyerEmail = c.name, c.email })
			if err != nil || p.BuyerName != c.name || p.BuyerEmail != c.email {
				t.Fatalf("%+v, %v", p, err)
			}
			if e := f.newestAudit(t); e.After != c.after || (c.before != "" && e.Before != c.before) {
				t.Errorf("%+v", e)
			}
			read, err := f.Validation.Show(t.Context(), operator, "of-grace")
			if err != nil || read.Purchase.BuyerName != c.name || read.Purchase.BuyerEmail != c.email {
				t.Errorf("read as %+v, %v", read.Purchase, err)
			}
		}
		if _, err := f.SetPurchase(t.Context(), operator, "of-grace", func(p *PurchaseTerms) { p.BuyerEmail = "grace" }); codeOf(err) != "invalid" {
			t.Error(err)
		}
	})
}
