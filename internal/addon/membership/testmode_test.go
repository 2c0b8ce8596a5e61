package membership

import (
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/play"
)

func TestNotificationsOfRealPurchasesWaitForTheEndOfTestMode(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "real", "gold_monthly")
		f.selling.Simulated = true
		asked := f.store.count("real")
		f.receive(t, notification("m1", 2, "real"), notification("m2", 4, "unknown"))
		if f.store.count("real") != asked {
			t.Error("the simulated store was asked about a real purchase")
		}
		list, err := f.Messages(t.Context(), program, 0, 10)
		if err != nil || len(list) != 2 || !list[0].ProcessedAt.IsZero() || !list[1].ProcessedAt.IsZero() {
			t.Errorf("%+v, %v", list, err)
		}
		f.selling.Simulated = false
		f.change("real", renewed)
		f.sell("unknown", sub("silver_monthly", f.accountOf("ben")))
		if _, err := f.Intend(t.Context(), "ben", nil); err != nil {
			t.Fatal(err)
		}
		f.clock.Move(elsewhereWait)
		f.run(t)
		f.wantMembership(t, "ana", entitle.Active, gold, 2)
		f.wantMembership(t, "ben", entitle.Active, silver, 1)
	})
}

func TestNotificationsOfSimulatedPurchasesEndWithTestMode(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.selling.Simulated = true
		f.bought(t, "ana", "simulated", "gold_monthly")
		f.selling.Simulated = false
		asked := f.store.count("simulated")
		f.receive(t, notification("m1", 2, "simulated"))
		list, err := f.Messages(t.Context(), program, 0, 10)
		if err != nil || len(list) != 1 || list[0].ProcessedAt.IsZero() || f.store.count("simulated") != asked {
			t.Errorf("%+v, asked %d times, %v", list, f.store.count("simulated")-asked, err)
		}
	})
}

func TestRealPurchasesAreAcknowledgedAfterTestMode(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.store.refusing = unavailable
		f.bought(t, "ana", "real", "gold_monthly")
		f.selling.Simulated, f.store.refusing = true, nil
		f.clock.Move(time.Minute)
		f.run(t)
		if list, _, err := f.Purchases(t.Context(), "ana", "", 0); err != nil || list[0].Acknowledged {
			t.Errorf("%+v, %v", list, err)
		}
		f.selling.Simulated = false
		f.clock.Move(elsewhereWait)
		f.run(t)
		if list, _, err := f.Purchases(t.Context(), "ana", "", 0); err != nil || !list[0].Acknowledged {
			t.Errorf("%+v, %v", list, err)
		}
	})
}

func TestRefundsDuringTestModeAreFoundAfterIt(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "real", "gold_monthly")
		if err := f.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.run(t)
		f.selling.Simulated = true
		f.clock.Move(10 * time.Hour)
		f.run(t)
		f.selling.Simulated = false
		f.clock.Move(time.Hour)
		f.run(t)
		if want := noon.Add(-entitle.VoidedOverlap); !f.store.since.Equal(want) {
			t.Errorf("the list was read from %s, want %s", f.store.since, want)
		}
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
