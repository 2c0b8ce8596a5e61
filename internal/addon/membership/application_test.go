package membership

import (
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play"
)

// next is the application that the settings name after a change.
const next = "com.example.next"

// After a change of the application ID, everything about a purchase is asked where it was made.
func TestAPurchaseBelongsToTheApplicationInWhichItWasMade(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.refuse(unavailable)
		id := f.bought(t, "ana", "old", "gold_monthly").Purchase.ID
		f.refuse(nil)
		f.selling.Application = next
		f.bought(t, "ben", "new", "silver_monthly")
		f.store.change("old", renewed)
		if o := f.mustVerify(t, "ana", "old"); o.Purchase.ID != id || !o.Purchase.Acknowledged {
			t.Errorf("%+v", o.Purchase)
		}
		f.store.change("old", renewed)
		f.receive(t, notification("m1", 2, "old"))
		f.wantMembership(t, "ana", entitle.Active, gold, 3)
		f.store.change("old", renewed)
		f.clock.Move(95 * 24 * time.Hour)
		f.run(t)
		f.wantMembership(t, "ana", entitle.Active, gold, 4)
		for what, act := range map[string]func() error{
			"cancel": func() error { _, err := f.Cancel(t.Context(), program, id, false); return err },
			"refund": func() error { _, err := f.Refund(t.Context(), program, id, false); return err },
			"revoke": func() error { _, err := f.Revoke(t.Context(), program, id, false); return err },
		} {
			if err := act(); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		if f.otherStore.count("old")+f.store.count("new") > 0 || f.otherStore.count("new") < 2 {
			t.Error("an application was asked about a purchase of the other one, or not about its own")
		}
	})
}

func TestRefundsOfEachApplicationAreFound(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "old", "gold_monthly")
		f.selling.Application = next
		f.otherStore.down = unavailable // the list of one is read although that of another can't be
		f.store.voided = []play.Voided{{Token: "old", OrderID: "GPA.1", VoidedAt: noon}}
		must.Do(t, f.Start(t.Context()))
		f.run(t)
		f.wantMembership(t, "ana", entitle.Revoked, gold, 2)
	})
}

func TestWhatWaitsForAnAnswerIsAskedInTheApplicationOfItsTime(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.setDown(unavailable)
		f.wantQueued(t, "ana", "old")
		f.setDown(nil)
		f.sell("old", sub("gold_monthly", f.accountOf("ana")))
		f.selling.Application = next
		f.later(t, time.Minute)
		f.wantMembership(t, "ana", entitle.Active, gold, 2)
	})
}

// An application with purchases may still be on phones, and its topic may still be connected.
func TestNotificationsOfAnEarlierApplicationAreAccepted(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "old", "gold_monthly")
		f.selling.Application = next
		must.Get(f.Intend(t.Context(), "ben", nil))(t)
		f.store.sell("late", sub("silver_monthly", f.accountOf("ben")))
		stranger := notification("m2", 4, "late")
		stranger.Package = "com.other.app"
		f.receive(t, notification("m1", 4, "late"), stranger)
		f.wantMembership(t, "ben", entitle.Active, silver, 1)
		alerts, err := f.Alerts(t.Context(), program)
		if err != nil || len(alerts) != 1 || alerts[0].Kind != alertApplication || alerts[0].Count != 1 {
			t.Errorf("%+v, %v", alerts, err)
		}
	})
}

// An application to which the service account has lost its access does not say anything about another one.
func TestAnAlertAboutTheServiceAccountIsOfItsApplication(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		id := f.bought(t, "ana", "old", "gold_monthly").Purchase.ID
		f.selling.Application = next
		f.setDown(&play.Error{Reason: play.Unauthorized})
		_, err := f.Refresh(t.Context(), program, id)
		wantCode(t, err, "store_not_authorised")
		f.bought(t, "ben", "new", "gold_monthly")
		expect.Equal(t, f.figures(t), "0 for 0s, 1 store_not_authorised")
		f.setDown(nil)
		if _, err := f.Refresh(t.Context(), program, id); err != nil || f.figures(t) != "0 for 0s" {
			t.Error(f.figures(t), err)
		}
	})
}
