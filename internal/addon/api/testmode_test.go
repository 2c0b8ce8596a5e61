package api_test

import (
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play/playfake"
)

// testMode begins test mode.
func (s *seller) testMode(t testing.TB) {
	t.Helper()
	must.Get(s.Settings.Set(t.Context(), operator, settings.Edit{}, map[string]string{iap.KeySandboxEnabled: "1"}))(t)
	must.Get(s.Settings.Publish(t.Context(), operator, 0, "Test mode"))(t)
}

// inTestMode is a site for the scripts: user-7 has a token for silver in the simulated store, and one for gold in the real one.
func inTestMode(t testing.TB, at dbtest.DB) *site {
	t.Helper()
	s := newSeller(t, at)
	s.testMode(t)
	silver := must.Get(s.Simulator.BuyForApp(t.Context(), "user-7", "silver_monthly", ""))(t)
	s.more = map[string]string{
		"silver": silver.PurchaseToken, "account": silver.AccountID, "gold": s.buy(t, "user-7", playfake.BuyOptions{ProductID: "gold_monthly"}),
	}
	return s.site
}

// In test mode an app buys, verifies and restores by the same endpoints. The real store is not called.
func TestAppsBuyInTestMode(t *testing.T) {
	t.Parallel()
	dbtest.AnEngine(t, func(t *testing.T, at dbtest.DB) {
		s := newSeller(t, at)
		s.testMode(t)
		address, ctx := s.serve(t).URL, t.Context()
		app := s.appClient(t, address, "user-7")
		silver := must.Get(app.BuySimulated(ctx, "silver_monthly", ""))(t)
		verified, err := app.VerifyPurchase(ctx, silver.PurchaseToken, "silver_monthly")
		if must.Do(t, err); verified.Result != "created" || verified.Purchase.Environment != "simulated" || verified.Membership.Package.Name != "Silver" {
			t.Errorf("%+v", verified)
		}
		gold, err := app.BuySimulated(ctx, "gold_monthly", silver.PurchaseToken)
		must.Do(t, err)
		restored, err := app.RestorePurchases(ctx, []string{silver.PurchaseToken, gold.PurchaseToken})
		if must.Do(t, err); restored.Results[0].Error != nil || restored.Results[1].Result != "created" || restored.Membership.Package.Name != "Gold" {
			t.Errorf("%+v", restored)
		}
		read, err := app.Membership(ctx, countersign.IAPMembershipRead{})
		if must.Do(t, err); !read.Active || read.Version != restored.Membership.Version {
			t.Errorf("%+v", read)
		}
		expect.Equalf(t, s.play.TotalCalls("/"), 0, "calls of the real store")
	})
}
