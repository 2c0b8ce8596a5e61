package membership

import (
	"fmt"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play"
)

// wantQueued verifies a token that has to be queued.
func (f *fixture) wantQueued(t *testing.T, user, token string) {
	t.Helper()
	o, err := f.Verify(t.Context(), user, token, "")
	if err != nil || !o.Pending || o.Result != ResultQueued || o.Membership.Status != "pending" {
		t.Fatalf("%+v, %v", o, err)
	}
}

// later moves the clock in steps, and does the tasks that are due at each.
func (f *fixture) later(t *testing.T, by time.Duration) {
	t.Helper()
	for end := f.clock.Now().Add(by); f.clock.Now().Before(end); f.clock.Move(min(time.Minute, end.Sub(f.clock.Now()))) {
		f.run(t)
	}
	f.run(t)
}

func TestAPurchaseThatMayYetBeReadIsPending(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		for i, c := range []struct {
			name   string
			reason play.Reason
			lasts  time.Duration
		}{
			{"the store does not know the token yet", play.TokenNotFound, 5 * time.Minute},
			{"the service account has no permission yet", play.Unauthorized, 36 * time.Hour},
			{"the service account can't see the app yet", play.ApplicationNotFound, 36 * time.Hour},
		} {
			user := fmt.Sprint("user-", i)
			f.sell(user, sub("gold_monthly", f.accountOf(user)))
			f.setDown(&play.Error{Reason: c.reason})
			f.wantQueued(t, user, user)
			intent, err := f.Intend(t.Context(), user, nil)
			if err != nil || intent.Membership.Status != "pending" {
				t.Errorf("%s: intent %+v, %v", c.name, intent.Membership, err)
			}
			f.later(t, c.lasts)
			f.wantMembership(t, user, entitle.Pending, 0, 1)
			f.setDown(nil)
			f.later(t, time.Hour)
			f.wantMembership(t, user, entitle.Active, gold, 2)
			f.wantEvents(t, "changed "+user, "activated "+user)
			f.change(user, func(s *play.Subscription) { s.Items[0].ExpiresAt = f.clock.Now().AddDate(1, 0, 0) })
			f.mustVerify(t, user, user)
			f.eventTypes()
		}
	})
}

func TestATokenThatTheStoreNeverKnowsIsRefusedInTheEnd(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.wantQueued(t, "ana", "made-up")
		f.later(t, unknownTime+time.Minute)
		f.wantMembership(t, "ana", entitle.None, 0, 2)
		f.wantEvents(t, "changed ana", "changed ana")
		_, err := f.Verify(t.Context(), "ana", "made-up", "")
		wantCode(t, err, "repeated_failure")
	})
}

func TestATokenThatANotificationNamedWaitsForADay(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.wantQueued(t, "ana", "token")
		f.receive(t, notification("m1", 4, "token"))
		f.later(t, announcedTime-2*time.Hour)
		f.wantMembership(t, "ana", entitle.Pending, 0, 1)
		f.sell("token", sub("gold_monthly", f.accountOf("ana")))
		f.later(t, time.Hour)
		f.wantMembership(t, "ana", entitle.Active, gold, 2)
	})
}

func TestMadeUpTokensOfOneUserDoNotAllWait(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		for i := range maxUnknown {
			f.wantQueued(t, "ana", fmt.Sprint("made-up-", i))
		}
		_, err := f.Verify(t.Context(), "ana", "real", "")
		wantCode(t, err, "rate_limited")
		f.wantQueued(t, "ben", "made-up-of-ben")
		f.receive(t, notification("m1", 4, "announced"))
		f.wantQueued(t, "ana", "announced")
		f.wantQueued(t, "ana", "made-up-0") // it waits already
		f.sell("real", sub("gold_monthly", f.accountOf("ana")))
		asked := f.store.count("real")
		_, err = f.Verify(t.Context(), "ana", "real", "")
		wantCode(t, err, "rate_limited")
		expect.Equalf(t, f.store.count("real"), asked, "the calls for unknown tokens are spent, and the store was asked")
		f.clock.Move(unknownWindow + time.Second)
		f.mustVerify(t, "ana", "real")
	})
}

func TestAQueuedPurchaseFollowsItsUser(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		for _, user := range []string{"ana", "ben"} {
			f.sell("token-of-"+user, sub("gold_monthly", f.accountOf(user)))
			f.setDown(unavailable)
			f.wantQueued(t, user, "token-of-"+user)
		}
		must.Get(f.Merge(t.Context(), operator, "ana", "eva"))(t)
		must.Get(f.Erase(t.Context(), operator, "ben", false))(t)
		f.wantMembership(t, "ana", entitle.None, 0, 2)
		f.wantMembership(t, "eva", entitle.Pending, 0, 1)
		f.setDown(nil)
		f.later(t, time.Hour)
		f.wantMembership(t, "ana", entitle.None, 0, 2)
		f.wantMembership(t, "eva", entitle.Active, gold, 2)
		f.wantMembership(t, "ben", entitle.None, 0, 0)
	})
}

func TestAnErasureDuringTheStoresAnswerBringsNobodyBack(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.sell("token", sub("gold_monthly", f.accountOf("ana")))
		f.setDown(unavailable)
		f.wantQueued(t, "ana", "token")
		f.setDown(nil)
		f.store.asked = func(string) {
			f.store.asked = nil
			if _, err := f.Erase(t.Context(), operator, "ana", false); err != nil {
				t.Error(err)
			}
		}
		f.later(t, time.Hour)
		f.wantMembership(t, "ana", entitle.None, 0, 0)
	})
}

func TestANewKeyFileKeepsWhatIsQueued(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.sell("token", sub("gold_monthly", f.accountOf("ana")))
		f.setDown(unavailable)
		f.wantQueued(t, "ana", "token")
		fresh := must.Get(keyfile.Create(t.TempDir()))(t)
		for old, want := range map[*keyfile.Box]int{nil: 1, f.box(): 0} {
			if lost, err := LostQueued(t.Context(), f.db, old); err != nil || lost != want {
				t.Errorf("%d are lost, want %d, %v", lost, want, err)
			}
		}
		must.Do(t, Reseal(t.Context(), f.db, f.box(), fresh))
		if lost, err := LostQueued(t.Context(), f.db, fresh); err != nil || lost != 0 {
			t.Errorf("%d are lost, %v", lost, err)
		}
	})
}

func TestTestModeDoesNotAnswerForTheStore(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.setDown(unavailable)
		f.wantQueued(t, "ana", "token")
		f.setDown(nil)
		f.sell("token", sub("gold_monthly", f.accountOf("ana")))
		f.selling.Simulated = true
		f.later(t, 3*time.Hour)
		f.wantMembership(t, "ana", entitle.Active, gold, 2)
		if f.simulated.count("token") > 0 {
			t.Error("the simulated store was asked")
		}
	})
}

func TestAMergeDuringTheLastAnswerLeavesNobodyPending(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.wantQueued(t, "ana", "made-up")
		f.clock.Move(unknownTime)
		f.store.asked = func(string) {
			f.store.asked = nil
			if _, err := f.Merge(t.Context(), operator, "ana", "eva"); err != nil {
				t.Error(err)
			}
		}
		f.later(t, time.Minute)
		f.wantMembership(t, "eva", entitle.None, 0, 2)
	})
}

func TestAPurchaseWhoseTokenIsLostEndsWithThePaidTime(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "token", "gold_monthly")
		must.Do(t, Reseal(t.Context(), f.db, nil, f.box()))
		if _, err := f.Merge(t.Context(), operator, "ana", "eva"); err != nil {
			t.Error(err)
		}
		f.clock.Move(month.Sub(noon) - time.Minute)
		f.run(t)
		f.wantMembership(t, "eva", entitle.Active, gold, 1)
		f.later(t, entitle.Leeway+time.Hour)
		f.wantMembership(t, "eva", entitle.Expired, gold, 2)
	})
}
