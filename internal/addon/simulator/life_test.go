package simulator_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/simulator"
	"github.com/countersign/countersign/internal/must"
)

func TestTheLifeOfASubscriptionStepByStep(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		step := f.buy(t, "ana", "silver_monthly", "")
		wantStep(t, step, "active", "active", silver, "activated")
		if p := step.Purchase; step.Call != simulator.CallVerify || !p.Acknowledged || !strings.HasPrefix(p.ID, "pur_") || p.User != "ana" || !p.ExpiresAt.Equal(noon.AddDate(0, 1, 0)) {
			t.Errorf("%s %+v", step.Call, p)
		}
		if !strings.Contains(string(step.Answer), `"environment":"simulated"`) || strings.Contains(string(step.Answer), `"token"`) {
			t.Errorf("answer %s", step.Answer)
		}
		ref := step.Purchase.Ref
		wantStep(t, f.do(t, ref, simulator.Renew), "active", "active", silver, "renewed")
		wantStep(t, f.do(t, ref, simulator.Decline), "active", "active", silver)
		wantStep(t, f.do(t, ref, simulator.Wait), "active", "active", silver) // a day of silent retries begins
		step = f.do(t, ref, simulator.Wait)
		wantStep(t, step, "in_grace_period", "grace", silver, "grace_started")
		if step.Purchase.NextState != "on_hold" || !step.Purchase.Declined {
			t.Errorf("%+v", step.Purchase)
		}
		wantStep(t, f.do(t, ref, simulator.Wait), "on_hold", "on_hold", silver, "suspended")
		wantStep(t, f.do(t, ref, simulator.Recover), "active", "active", silver, "resumed")
		step = f.buy(t, "ana", "gold_monthly", ref)
		wantStep(t, step, "active", "active", gold, "changed")
		wantStep(t, f.do(t, step.Purchase.Ref, simulator.Refund), "expired", "revoked", gold, "purchase.refunded", "revoked")
		list, now, err := f.Simulator.Purchases(t.Context(), operator)
		if err != nil || len(list) != 2 || list[0].Ref != step.Purchase.Ref || !list[1].Superseded || len(list[1].Acts) > 0 || !now.After(noon.AddDate(0, 2, 7)) {
			t.Errorf("%+v at %s, %v", list, now, err)
		}
	})
}

func TestASubscriptionIsPausedCancelledAndEnds(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ref := f.buy(t, "ana", "gold_monthly", "").Purchase.Ref
		wantStep(t, f.do(t, ref, simulator.Pause), "active", "active", gold)
		wantStep(t, f.do(t, ref, simulator.Wait), "paused", "paused", gold, "suspended")
		wantStep(t, f.do(t, ref, simulator.Resume), "active", "active", gold, "resumed")
		wantStep(t, f.do(t, ref, simulator.Cancel), "canceled", "active", gold, "will_not_renew")
		wantStep(t, f.do(t, ref, simulator.UndoCancel), "active", "active", gold, "changed")
		wantStep(t, f.do(t, ref, simulator.Cancel), "canceled", "active", gold, "will_not_renew")
		wantStep(t, f.do(t, ref, simulator.Wait), "expired", "expired", gold, "expired")
		again := f.buy(t, "ana", "silver_monthly", "")
		wantStep(t, again, "active", "active", silver, "activated")
		wantStep(t, f.do(t, again.Purchase.Ref, simulator.Expire), "expired", "expired", silver, "expired")
	})
}

// A prepaid plan ends with the time that was paid, and a yearly one renews after a year.
func TestAPlanDecidesWhatFollowsThePaidTime(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		for _, c := range []struct {
			plan, next string
			until      time.Time
			events     []string
		}{
			{simulator.Prepaid, "expired", noon.AddDate(0, 1, 0), []string{"expired"}},
			{simulator.Yearly, "active", noon.AddDate(1, 1, 0), []string{"renewed"}},
		} {
			step := must.Get(f.Simulator.Buy(t.Context(), operator, simulator.Order{User: "ana", Product: "gold_monthly", Plan: c.plan}))(t)
			wantStep(t, step, "active", "active", gold, "activated")
			if p := step.Purchase; p.Plan != c.plan || !p.ExpiresAt.Equal(c.until) || p.NextState != c.next || slices.Contains(p.Acts, simulator.Renew) != (c.next == "active") {
				t.Errorf("%+v", p)
			}
			wantStep(t, f.do(t, step.Purchase.Ref, simulator.Wait), c.next, c.next, gold, c.events...)
		}
		_, err := f.Simulator.Buy(t.Context(), operator, simulator.Order{User: "ana", Product: "gold_monthly", Plan: "weekly"})
		wantCode(t, err, "invalid")
	})
}

// Every act that a purchase lists can be done, and every other one is refused.
func TestActsAreThoseThatArePossible(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		paths := [][]simulator.Act{
			{}, {simulator.Decline}, {simulator.Decline, simulator.Wait}, {simulator.Decline, simulator.Wait, simulator.Wait},
			{simulator.Decline, simulator.Wait, simulator.Wait, simulator.Wait}, {simulator.Pause}, {simulator.Pause, simulator.Wait},
			{simulator.Cancel}, {simulator.Refund}, {simulator.Expire}, {simulator.Pause, simulator.Decline, simulator.Wait, simulator.Wait},
		}
		for _, path := range paths {
			begin := func() simulator.Purchase {
				p := f.buy(t, "ana", "gold_monthly", "").Purchase
				for _, act := range path {
					p = f.do(t, p.Ref, act).Purchase
				}
				return p
			}
			p := begin()
			for _, act := range simulator.Acts() {
				step, err := f.Simulator.Do(t.Context(), operator, p.Ref, act)
				if listed := slices.Contains(p.Acts, act); listed != (err == nil) {
					t.Errorf("%s after %v: listed %t, %v", act, path, listed, err)
				}
				if act == simulator.Wait && err == nil && step.Purchase.State != p.NextState {
					t.Errorf("after %v it becomes %s, not %s", path, step.Purchase.State, p.NextState)
				}
				if err != nil {
					wantCode(t, err, "not_possible")
					continue
				}
				must.Do(t, f.Simulator.Clear(t.Context(), operator))
				p = begin()
			}
		}
	})
}

// An upgrade is one change for the site, whatever order background work takes.
func TestAnUpgradeIsOneChange(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		addontest.Run(t, f.Addon)
		for range 10 {
			ref := f.buy(t, "ana", "silver_monthly", "").Purchase.Ref
			f.clock.Move(time.Hour) // the tasks of the first purchase are due
			step := f.buy(t, "ana", "gold_monthly", ref)
			wantStep(t, step, "active", "active", gold, "changed")
			f.do(t, step.Purchase.Ref, simulator.Refund)
		}
	})
}

func TestTheStoreIsUsedInTestModeByThoseWhoManageMembers(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		_, err := f.Simulator.Buy(ctx, visitor, simulator.Order{User: "ana", Product: "gold_monthly"})
		wantCode(t, err, "not_allowed")
		for order, code := range map[simulator.Order]string{
			{User: "ana", Product: "extra"}:                                                                      "invalid",
			{User: "", Product: "gold_monthly"}:                                                                  "invalid_request",
			{User: "ana", Product: "gold_monthly", Replaces: "0123456789"}:                                       "simulated_purchase_not_found",
			{User: "ben", Product: "gold_monthly", Replaces: f.buy(t, "ana", "silver_monthly", "").Purchase.Ref}: "not_possible",
		} {
			_, err := f.Simulator.Buy(ctx, operator, order)
			wantCode(t, err, code)
		}
		_, err = f.Simulator.Do(ctx, operator, "0123456789", simulator.Renew)
		wantCode(t, err, "simulated_purchase_not_found")
		products, err := f.Simulator.Products(ctx, operator)
		if err != nil || len(products) != 2 || products[0].ID != "silver_monthly" || products[0].Price.Amount != "4.99" || products[1].Price.Amount != "9.99" {
			t.Errorf("%+v, %v", products, err)
		}
		must.Do(t, f.publish(ctx, map[string]string{iap.KeyEnabled: "0"}))
		_, err = f.Simulator.Buy(ctx, operator, simulator.Order{User: "ana", Product: "gold_monthly"})
		wantCode(t, err, "iap_disabled")
		must.Do(t, f.publish(ctx, map[string]string{iap.KeyEnabled: "1", iap.KeySandboxEnabled: "0"}))
		_, err = f.Simulator.Buy(ctx, operator, simulator.Order{User: "ana", Product: "gold_monthly"})
		wantCode(t, err, "test_mode_off")
		_, _, err = f.Simulator.Purchases(ctx, operator)
		wantCode(t, err, "test_mode_off")
	})
}

func TestAProductThatIsMappedLaterIsSoldToo(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ref := f.buy(t, "ana", "silver_monthly", "").Purchase.Ref
		must.Do(t, f.publish(t.Context(), map[string]string{iap.KeyProductMap: `{"store":{"basic_monthly":1,"gold_monthly":2}}`}))
		products, err := f.Simulator.Products(t.Context(), operator)
		if err != nil || len(products) != 2 || products[0].ID != "basic_monthly" || products[0].Price.Amount != "14.99" {
			t.Errorf("%+v, %v", products, err)
		}
		wantStep(t, f.do(t, ref, simulator.Renew), "active", "active", silver, "renewed") // of a product that is sold no more
		wantStep(t, f.buy(t, "ben", "basic_monthly", ""), "active", "active", silver, "activated")
	})
}

// Each change writes the whole state, so it has to stay small, also when nobody looks at it for years.
func TestTheStoreHoldsALimitedNumberOfOrders(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.Simulator.SetMaxOrders(5)
		ref := f.buy(t, "ana", "gold_monthly", "").Purchase.Ref
		f.do(t, ref, simulator.Renew)
		f.clock.Move(3 * 365 * 24 * time.Hour)
		again, err := f.Simulator.Tick(t.Context(), nil)
		if err != nil || !again.Equal(f.clock.Now().Add(time.Hour)) {
			t.Errorf("again at %s, %v", again, err)
		}
		list, now, err := f.Simulator.Purchases(t.Context(), operator)
		if err != nil || len(list) != 1 || now.After(noon.AddDate(0, 6, 0)) || !list[0].ExpiresAt.Equal(noon.AddDate(0, 5, 0)) {
			t.Errorf("%+v at %s, %v", list, now, err)
		}
		_, err = f.Simulator.Do(t.Context(), operator, ref, simulator.Renew)
		wantCode(t, err, "simulator_full")
		_, err = f.Simulator.Buy(t.Context(), operator, simulator.Order{User: "ben", Product: "gold_monthly"})
		wantCode(t, err, "simulator_full")
		must.Do(t, f.Simulator.Clear(t.Context(), operator))
		wantStep(t, f.buy(t, "ana", "gold_monthly", ""), "active", "active", gold, "activated")
	})
}

func TestProductsThatAreBoughtOnce(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		must.Do(t, f.publish(t.Context(), map[string]string{
			iap.KeyProductMap: `{"store":{"silver_monthly":1,"gold_monthly":2,"gold_forever":2,"gold_pass":2}}`, iap.KeyOneTime: "gold_forever=lifetime, gold_pass=30",
		}))
		first := f.buy(t, "ana", "gold_pass", "")
		wantStep(t, first, "purchased", "active", gold, "activated")
		want := []simulator.Act{simulator.Refund, simulator.Expire}
		if p := first.Purchase; !p.Acknowledged || !p.ExpiresAt.Equal(noon.AddDate(0, 0, 30)) || !slices.Equal(p.Acts, want) {
			t.Errorf("%+v", p)
		}
		second, err := f.Simulator.Buy(t.Context(), operator, simulator.Order{User: "ana", Product: "gold_pass", Plan: simulator.Monthly}) // as the page sends it
		must.Do(t, err)
		wantStep(t, second, "purchased", "active", gold, "renewed")
		wantStep(t, f.do(t, first.Purchase.Ref, simulator.Expire), "purchased", "active", gold) // the second pass goes on
		wantStep(t, f.do(t, second.Purchase.Ref, simulator.Expire), "purchased", "expired", gold, "expired")
		forever := f.buy(t, "ben", "gold_forever", "")
		wantStep(t, forever, "purchased", "active", gold, "activated")
		if p := forever.Purchase; !p.ExpiresAt.IsZero() || slices.Contains(p.Acts, simulator.Expire) {
			t.Errorf("%+v", p)
		}
		_, err = f.Simulator.Buy(t.Context(), operator, simulator.Order{User: "ben", Product: "gold_forever"})
		wantCode(t, err, "not_possible")
		wantStep(t, f.do(t, forever.Purchase.Ref, simulator.Refund), "cancelled", "revoked", gold, "purchase.refunded", "revoked")
	})
}

// A lifetime of the test mode does not outlast it.
func TestALifetimeOfTheTestModeEndsWithIt(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		must.Do(t, f.publish(t.Context(), map[string]string{iap.KeyProductMap: `{"store":{"gold_forever":2}}`, iap.KeyOneTime: "gold_forever=lifetime"}))
		wantStep(t, f.buy(t, "ana", "gold_forever", ""), "purchased", "active", gold, "activated")
		must.Do(t, f.publish(t.Context(), map[string]string{iap.KeySandboxEnabled: "0"}))
		f.clock.Move(9 * time.Hour)
		must.Do(t, f.RunDue(t.Context()))
		read, err := f.Members.Membership(t.Context(), "ana")
		if err != nil || read.Membership.Active {
			t.Errorf("%+v, %v", read.Membership, err)
		}
	})
}
