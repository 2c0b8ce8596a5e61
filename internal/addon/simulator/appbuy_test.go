package simulator_test

import (
	"context"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/must"
)

// buyByApp buys as the app of a user does.
func (f *fixture) buyByApp(t *testing.T, user, product, replaces string) countersign.IAPSimulatedPurchase {
	t.Helper()
	return must.Get(f.Simulator.BuyForApp(t.Context(), user, product, replaces))(t)
}

func (f *fixture) verify(t *testing.T, user, token string) countersign.IAPMembership {
	t.Helper()
	done, err := f.Members.Verify(t.Context(), user, token, "")
	if err != nil || !done.Purchase.Acknowledged || done.Purchase.Environment != "simulated" {
		t.Fatalf("%+v, %v", done, err)
	}
	return done.Membership
}

func TestAnAppBuysForItsUser(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		bought := f.buyByApp(t, "ana", "silver_monthly", "")
		if again := f.buyByApp(t, "ana", "silver_monthly", ""); again != bought || bought.ProductID != "silver_monthly" || bought.AccountID == "" {
			t.Errorf("%+v, then %+v", bought, again)
		}
		_, err := f.Members.Verify(ctx, "ben", bought.PurchaseToken, "")
		wantCode(t, err, "owned_by_other_user")
		_, err = f.Simulator.BuyForApp(ctx, "ben", "gold_monthly", bought.PurchaseToken)
		wantCode(t, err, "not_possible")
		f.verify(t, "ana", bought.PurchaseToken)
		upgrade := f.buyByApp(t, "ana", "gold_monthly", bought.PurchaseToken)
		if again := f.buyByApp(t, "ana", "gold_monthly", bought.PurchaseToken); again != upgrade {
			t.Errorf("%+v, then %+v", upgrade, again)
		}
		if m := f.verify(t, "ana", upgrade.PurchaseToken); m.Package == nil || m.Package.ID != gold {
			t.Errorf("%+v", m)
		}
		list, _, err := f.Simulator.Purchases(ctx, operator)
		if err != nil || len(list) != 2 || !list[1].Superseded {
			t.Errorf("%+v, %v", list, err)
		}
	})
}

func TestAnAppBuysDaysAgain(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		must.Do(t, f.publish(t.Context(), map[string]string{
			iap.KeyProductMap: `{"store":{"gold_forever":2,"gold_pass":2}}`, iap.KeyOneTime: "gold_forever=lifetime, gold_pass=30",
		}))
		first := f.buyByApp(t, "ana", "gold_pass", "")
		if again := f.buyByApp(t, "ana", "gold_pass", ""); again != first { // it was not consumed yet
			t.Errorf("%+v, then %+v", first, again)
		}
		f.verify(t, "ana", first.PurchaseToken)
		second := f.buyByApp(t, "ana", "gold_pass", "")
		if m := f.verify(t, "ana", second.PurchaseToken); second == first || m.Until == nil || !m.Until.Equal(noon.AddDate(0, 0, 60)) {
			t.Errorf("%+v, then %+v: %+v", first, second, m)
		}
		forever := f.buyByApp(t, "ben", "gold_forever", "")
		f.verify(t, "ben", forever.PurchaseToken)
		if again := f.buyByApp(t, "ben", "gold_forever", ""); again != forever {
			t.Errorf("%+v, then %+v", forever, again)
		}
	})
}

// An app that ends before it verifies loses nothing: the simulated store sends a notification, too.
func TestWhatAnAppBoughtIsActivatedByItsNotification(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.buyByApp(t, "ana", "gold_monthly", "")
		f.clock.Move(time.Minute)
		must.Do(t, f.RunDue(t.Context()))
		f.await(t, "ana", "active", 1)
	})
}

// The settings that a process has cached may be older than the publication that ended test mode.
func TestNothingIsBoughtAfterTheStoreWasEmptied(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		cached, err := f.Simulator.Selling(t.Context())
		if err == nil {
			err = f.publish(t.Context(), map[string]string{iap.KeySandboxEnabled: "0"})
		}
		must.Do(t, err)
		f.Simulator.Selling = func(context.Context) (iap.Selling, error) { return cached, nil }
		_, err = f.Simulator.BuyForApp(t.Context(), "ana", "gold_monthly", "")
		wantCode(t, err, "test_mode_off")
	})
}

func TestWhatAnAppCannotBuy(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		buy := func(product, replaces, want string) {
			t.Helper()
			_, err := f.Simulator.BuyForApp(ctx, "ana", product, replaces)
			wantCode(t, err, want)
		}
		buy("extra", "", "product_not_mapped")
		buy("gold_monthly", "unknown", "simulated_purchase_not_found")
		token, products := "", []string{"silver_monthly", "gold_monthly"}
		for i := range 20 {
			token = f.buyByApp(t, "ana", products[i%2], token).PurchaseToken
			f.verify(t, "ana", token)
		}
		buy("silver_monthly", token, "simulator_full")
		f.buyByApp(t, "ben", "silver_monthly", "")
		for code, values := range map[string]map[string]string{
			"iap_disabled":  {iap.KeyEnabled: "0", iap.KeySandboxEnabled: "1"},
			"test_mode_off": {iap.KeyEnabled: "1", iap.KeySandboxEnabled: "0"},
		} {
			must.Do(t, f.publish(ctx, values))
			buy("gold_monthly", "", code)
		}
	})
}
