package membership

import (
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play"
)

func TestAMergeMovesEverythingOfAUser(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "token", "silver_monthly")
		f.mustGrant(t, "ana", gold, noon.Add(time.Hour))
		f.eventTypes()
		m, err := f.Merge(t.Context(), program, "ana", "ben")
		if err != nil || m.Purchases != 1 || m.Grants != 1 || m.Membership.Package.ID != gold {
			t.Fatalf("%+v, %v", m, err)
		}
		f.wantEvents(t, "transferred ana", "transferred ben")
		f.wantMembership(t, "ana", entitle.None, 0, 3)
		f.wantMembership(t, "ben", entitle.Active, gold, 1)
		_, err = f.Verify(t.Context(), "ana", "token", "")
		wantCode(t, err, "owned_by_other_user")
		f.mustVerify(t, "ben", "token")
		f.clock.Move(time.Hour) // the end of the grant is that of its new owner
		f.run(t)
		f.wantMembership(t, "ben", entitle.Active, silver, 2)
	})
}

func TestAPurchaseThatComesAfterAMergeBelongsToWhoIsLeft(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		intent := must.Get(f.Intend(t.Context(), "ana", nil))(t)
		must.Get(f.Merge(t.Context(), program, "ana", "ben"))(t)
		f.sell("token", sub("gold_monthly", intent.AccountID))
		f.mustVerify(t, "ben", "token")
		f.wantMembership(t, "ben", entitle.Active, gold, 1)
	})
}

func TestAMergeMayBeRepeated(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "token", "gold_monthly")
		f.eventTypes()
		for i, want := range []int64{1, 0} {
			if m, err := f.Merge(t.Context(), program, "ana", "ben"); err != nil || m.Purchases != want || !m.Membership.Active {
				t.Errorf("%d: %+v, %v", i, m, err)
			}
		}
		f.wantEvents(t, "transferred ana", "transferred ben")
		f.wantMembership(t, "ben", entitle.Active, gold, 1)
		for _, pair := range [][2]string{{"ana", "ana"}, {"", "ben"}, {"ana", "\x00"}} {
			_, err := f.Merge(t.Context(), program, pair[0], pair[1])
			wantCode(t, err, "invalid_request")
		}
	})
}

func TestMergesAndErasuresAtOnceEnd(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		for _, user := range []string{"ana", "ben", "carl"} {
			f.bought(t, user, "token-of-"+user, "gold_monthly")
			f.mustGrant(t, user, silver, time.Time{})
		}
		var all sync.WaitGroup
		for _, do := range []func() error{
			func() error { _, err := f.Merge(t.Context(), program, "ana", "ben"); return err },
			func() error { _, err := f.Merge(t.Context(), program, "ben", "carl"); return err },
			func() error { _, err := f.Merge(t.Context(), program, "carl", "ana"); return err },
			func() error { _, err := f.Erase(t.Context(), program, "ben", true); return err },
			func() error { _, err := f.Erase(t.Context(), program, "ana", true); return err },
		} {
			all.Go(func() {
				if err := do(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	})
}

func TestAnErasureLeavesPurchasesWithoutUserAndToken(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		id := f.bought(t, "ana", "token", "gold_monthly").Purchase.ID
		f.mustGrant(t, "ana", gold, noon.Add(time.Hour))
		if _, err := f.Membership(t.Context(), "ana"); err != nil { // it is cached from here on
			t.Fatal(err)
		}
		must.Get(f.Cancel(t.Context(), program, id, false))(t)
		if e, err := f.Erase(t.Context(), program, "ana", false); err != nil || e != (Erased{Purchases: 1, Grants: 1}) {
			t.Fatalf("%+v, %v", e, err)
		}
		d, err := f.PurchaseFor(t.Context(), program, id)
		if err != nil || d.User != "" || d.Access || !d.TokenLost || d.Purchase.OrderID != "GPA.1" || d.Purchase.Price == nil || d.Purchase.State != "expired" {
			t.Errorf("%+v, %v", d, err)
		}
		if m, err := f.Membership(t.Context(), "ana"); err != nil || m.Membership.Status != "none" || m.Membership.Version != 0 {
			t.Errorf("%+v, %v", m, err)
		}
		if c, err := f.Customers(t.Context(), program, CustomerFilter{}); err != nil || c.Count != 0 {
			t.Errorf("%+v, %v", c, err)
		}
		for _, text := range []string{"ana", "token"} {
			if found, err := f.Find(t.Context(), program, text); err != nil || len(found) != 0 {
				t.Errorf("%q finds %+v, %v", text, found, err)
			}
		}
		if u, err := f.db.IdentityUser(t.Context(), f.accountOf("ana")); err == nil {
			t.Errorf("the account id is still %s's", u)
		}
		f.clock.Move(31 * 24 * time.Hour)
		if failed := f.run(t); len(failed) != 0 {
			t.Error(failed)
		}
		f.wantMembership(t, "ana", entitle.None, 0, 0)
	})
}

func TestAnErasureWaitsForTheEndOfRenewalsUnlessItIsForced(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*play.Subscription)
		code   string
	}{
		{"one that renews", func(*play.Subscription) {}, "subscription_renews"},
		{"one in grace", state(play.InGracePeriod), "subscription_renews"},
		{"one on hold", state(play.OnHold), "subscription_renews"},
		{"a paused one", state(play.Paused), "subscription_renews"},
		{"one that was cancelled", state(play.Canceled), ""},
		{"one that has ended", state(play.Expired), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			engines(t, func(t *testing.T, f *fixture) {
				f.bought(t, "ana", "token", "gold_monthly")
				f.change("token", c.change)
				f.mustVerify(t, "ana", "token")
				_, err := f.Erase(t.Context(), program, "ana", false)
				wantCode(t, err, c.code)
				if _, err := f.Erase(t.Context(), program, "ana", true); err != nil {
					t.Error(err)
				}
				f.wantMembership(t, "ana", entitle.None, 0, 0)
			})
		})
	}
}

func TestAnErasedUserMayBuyAndRestoreAgain(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		first := f.bought(t, "ana", "token", "gold_monthly").Purchase.ID
		must.Get(f.Erase(t.Context(), program, "ana", true))(t)
		again := f.mustVerify(t, "ana", "token")
		if again.Result != ResultCreated || again.Purchase.ID == first {
			t.Errorf("%+v", again)
		}
		f.wantMembership(t, "ana", entitle.Active, gold, 1)
	})
}
