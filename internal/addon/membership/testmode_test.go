package membership

import (
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play"
)

func TestNotificationsOfRealPurchasesAreProcessedInTestMode(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "real", "gold_monthly")
		must.Get(f.Intend(t.Context(), "ben", nil))(t)
		f.selling.Simulated = true
		f.store.change("real", renewed)
		f.store.sell("new", sub("silver_monthly", f.accountOf("ben")))
		f.receive(t, notification("m1", 2, "real"), notification("m2", 4, "new"))
		f.wantMembership(t, "ana", entitle.Active, gold, 2)
		f.wantMembership(t, "ben", entitle.Active, silver, 1)
		if f.simulated.count("real")+f.simulated.count("new") > 0 || f.store.count("acknowledge new") != 1 {
			t.Error("the simulated store was asked about real purchases, or the new one was not acknowledged")
		}
	})
}

func TestNotificationsOfSimulatedPurchasesEndWithTestMode(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.selling.Simulated = true
		f.bought(t, "ana", "simulated", "gold_monthly")
		f.selling.Simulated = false
		unknown := notification(SimulatedPrefix+"m2", 4, "unknown")
		f.receive(t, notification("m1", 2, "simulated"), unknown)
		list, err := f.Messages(t.Context(), program, 0, 10)
		if err != nil || len(list) != 2 || list[0].ProcessedAt.IsZero() || list[1].ProcessedAt.IsZero() {
			t.Errorf("%+v, %v", list, err)
		}
		if f.simulated.count("simulated") != 1 || f.store.count("simulated")+f.store.count("unknown") > 0 {
			t.Error("a store was asked")
		}
	})
}

func TestRealPurchasesAreAcknowledgedInTestMode(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.refuse(unavailable)
		f.bought(t, "ana", "real", "gold_monthly")
		f.selling.Simulated = true
		f.refuse(nil)
		f.clock.Move(time.Minute)
		f.run(t)
		if list, _, err := f.Purchases(t.Context(), "ana", "", 0); err != nil || !list[0].Acknowledged {
			t.Errorf("%+v, %v", list, err)
		}
	})
}

// What the simulated store does not know may be a purchase in the real one.
func TestARealTokenIsNotRefusedInTestMode(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "real", "gold_monthly")
		f.store.sell("new", sub("silver_monthly", f.accountOf("ben")))
		f.selling.Simulated = true
		for _, down := range []error{nil, &play.Error{Reason: play.InvalidToken}} {
			f.simulated.down = down
			for user, token := range map[string]string{"ana": "real", "ben": "new"} {
				_, err := f.Verify(t.Context(), user, token, "")
				wantCode(t, err, "store_unavailable")
			}
		}
		f.selling.Simulated = false
		f.mustVerify(t, "ana", "real")
		f.mustVerify(t, "ben", "new")
	})
}

func TestRefundsAreFoundInTestMode(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "real", "gold_monthly")
		must.Do(t, f.Start(t.Context()))
		f.run(t)
		f.selling.Simulated = true
		f.clock.Move(10 * time.Hour)
		f.run(t)
		f.store.voided = []play.Voided{{Token: "real", OrderID: "GPA.1", VoidedAt: noon}}
		f.clock.Move(time.Hour)
		f.run(t)
		if want := noon.Add(10*time.Hour - entitle.VoidedOverlap); !f.store.since.Equal(want) {
			t.Errorf("the list was read from %s, want %s", f.store.since, want)
		}
		f.wantMembership(t, "ana", entitle.Revoked, gold, 2)
	})
}

func TestASimulatedPurchaseIsNotWrittenAfterItsStoreWasEmptied(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.selling.Simulated = true
		f.sell("token", sub("gold_monthly", f.accountOf("ana")))
		f.simulated.asked = func(token string) {
			f.simulated.asked = nil
			err := f.db.Tx(t.Context(), func(tx *addondb.DB) error { return tx.SetSimulator(t.Context(), []byte{}, f.timestamp()) })
			if err != nil {
				t.Error(err)
			}
			delete(f.simulated.subs, token)
		}
		_, err := f.Verify(t.Context(), "ana", "token", "")
		wantCode(t, err, "store_unavailable")
		f.wantMembership(t, "ana", entitle.None, 0, 0)
	})
}

func TestWhatWaitsForTheSimulatedStoreEndsWithIt(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.selling.Simulated = true
		f.bought(t, "ana", "bought", "gold_monthly")
		f.simulated.down = unavailable
		if o, err := f.Verify(t.Context(), "ben", "queued", ""); err != nil || !o.Pending {
			t.Fatalf("%+v, %v", o, err)
		}
		must.Do(t, f.db.Tx(t.Context(), func(tx *addondb.DB) error { return f.ForgetSimulated(t.Context(), tx) }))
		f.wantMembership(t, "ana", entitle.None, 0, 2)
		f.wantMembership(t, "ben", entitle.None, 0, 2)
	})
}

// A purchase is judged on the store's clock, which may be ahead.
func TestTheStoresClockDecidesWhetherAPurchaseEndedEarly(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "late", "gold_monthly")
		f.bought(t, "ben", "early", "gold_monthly")
		ended := func(s *play.Subscription) { s.State = play.Expired }
		f.change("early", ended)
		f.mustVerify(t, "ben", "early")
		f.wantMembership(t, "ben", entitle.Revoked, gold, 2)
		f.store.clock = func() time.Time { return month }
		f.change("late", ended)
		f.mustVerify(t, "ana", "late")
		f.wantMembership(t, "ana", entitle.Expired, gold, 2)
	})
}

func TestARuleForTestPurchasesAlsoEndsEarlierOnes(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		for _, user := range []string{"ana", "ben"} {
			test := sub("gold_monthly", f.accountOf(user))
			test.Test = true
			f.sell(user, test)
			f.mustVerify(t, user, user)
		}
		f.bought(t, "eva", "paid", "gold_monthly")
		f.eventTypes()
		publish := func(rule entitle.TestRule, users ...string) {
			t.Helper()
			f.selling.TestPurchases = entitle.TestPurchases{Rule: rule, Users: users}
			must.Do(t, f.db.Tx(t.Context(), func(tx *addondb.DB) error { return f.RulesChanged(t.Context(), tx) }))
			f.clock.Move(settingsWait)
			f.run(t)
		}
		publish(entitle.AllowListTests, "ben")
		f.wantEvents(t, "expired ana")
		publish(entitle.DenyTests)
		f.wantEvents(t, "expired ben")
		f.wantMembership(t, "eva", entitle.Active, gold, 1)
		publish(entitle.AllowTests)
		f.wantEvents(t, "activated ana", "activated ben")
	})
}
