package membership

import (
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/play"
)

// step is something that happens in the store, and what follows from it.
type step struct {
	name   string
	change func(*play.Subscription)
	want   entitle.Status
	event  string // "" for none
	action string
}

func state(to play.State) func(*play.Subscription) {
	return func(s *play.Subscription) { s.State = to }
}

// renewed moves a subscription into its next period.
func renewed(s *play.Subscription) {
	s.State = play.Active
	s.Items[0].ExpiresAt = s.Items[0].ExpiresAt.AddDate(0, 1, 0)
	s.Items[0].OrderID += "."
}

func TestAMembershipFollowsTheStore(t *testing.T) {
	undone := func(s *play.Subscription) { s.State, s.Items[0].AutoRenews = play.Active, true }
	cancelled := func(s *play.Subscription) { s.State, s.Items[0].AutoRenews = play.Canceled, false }
	price := func(s *play.Subscription) {
		s.Items[0].PriceChange = &play.PriceChange{State: "outstanding", NeedsConsent: true}
	}
	cases := map[string][]step{
		"grace and recovery": {
			{"declined", state(play.InGracePeriod), entitle.Grace, "grace_started", "fix_payment"}, {"recovered", renewed, entitle.Active, "renewed", ""}},
		"grace, hold and recovery": {
			{"declined", state(play.InGracePeriod), entitle.Grace, "grace_started", "fix_payment"}, {"held", state(play.OnHold), entitle.OnHold, "suspended", "fix_payment"},
			{"recovered", renewed, entitle.Active, "resumed", ""}},
		"hold and end": {
			{"held", state(play.OnHold), entitle.OnHold, "suspended", "fix_payment"}, {"ended", state(play.Expired), entitle.Expired, "expired", ""}},
		"pause and resumption": {
			{"announced", func(s *play.Subscription) { s.AutoResumeAt = month.AddDate(0, 1, 0) }, entitle.Active, "", ""},
			{"paused", state(play.Paused), entitle.Paused, "suspended", "resume"}, {"resumed", renewed, entitle.Active, "resumed", ""}},
		"cancelled and restored": {
			{"cancelled", cancelled, entitle.Active, "will_not_renew", ""}, {"restored", undone, entitle.Active, "changed", ""}},
		"a price increase that was declined": {
			{"announced", price, entitle.Active, "changed", "confirm_price"}, {"declined", cancelled, entitle.Active, "will_not_renew", "confirm_price"}},
		"revoked": {{"revoked", state(play.Expired), entitle.Revoked, "revoked", ""}},
		"an unknown state": {
			{"unknown", state("PONDERING"), entitle.Active, "", ""}, {"known again", state(play.InGracePeriod), entitle.Grace, "grace_started", "fix_payment"}},
		"an add-on is added and removed": {
			{"added", func(s *play.Subscription) {
				s.Items = append(s.Items, play.Item{ProductID: "silver_monthly", ExpiresAt: month, OrderID: "GPA.7"})
			}, entitle.Active, "", ""},
			{"removed", func(s *play.Subscription) { s.Items = s.Items[:1] }, entitle.Active, "", ""}},
	}
	engines(t, func(t *testing.T, f *fixture) {
		for name, steps := range cases {
			t.Run(name, func(t *testing.T) {
				token := strings.ReplaceAll(name, " ", "-")
				f.bought(t, name, token, "gold_monthly")
				f.eventTypes()
				for _, s := range steps {
					f.change(token, s.change)
					o := f.mustVerify(t, name, token)
					action := ""
					if o.Membership.ActionRequired != nil {
						action = *o.Membership.ActionRequired
					}
					if o.Membership.Status != string(s.want) || action != s.action {
						t.Errorf("%s: %+v, action %q", s.name, o.Membership, action)
					}
					if s.event == "" {
						f.wantEvents(t)
					} else {
						f.wantEvents(t, s.event+" "+name)
					}
				}
			})
		}
	})
}

func TestTheStoreConfirmsAnEndBeforeAccessEnds(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		renews, ends := f.bought(t, "ana", "renews", "gold_monthly"), f.bought(t, "ben", "ends", "gold_monthly")
		f.eventTypes()
		f.change("renews", renewed)
		f.change("ends", state(play.Expired))
		f.clock.Move(month.Sub(noon))
		f.run(t)
		f.wantEvents(t) // the first check comes after the end
		f.clock.Move(time.Minute)
		f.run(t)
		f.wantMembership(t, "ana", entitle.Active, gold, 2)
		f.wantMembership(t, "ben", entitle.Expired, gold, 2)
		if got := f.due(KindWatch, renews.Purchase.ID); !got.Equal(month.AddDate(0, 1, 0).Add(30 * time.Second)) {
			t.Errorf("the renewed one is watched at %s", got)
		}
		if got := f.due(KindWatch, ends.Purchase.ID); !got.IsZero() {
			t.Errorf("the ended one is watched at %s", got)
		}
	})
}

func TestWhatWasBoughtStaysTrueWhileNothingIsSold(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "token", "gold_monthly")
		f.selling.Enabled = false
		f.change("token", renewed)
		f.receive(t, notification("m1", 2, "token"))
		f.wantMembership(t, "ana", entitle.Active, gold, 2)
		_, err := f.Verify(t.Context(), "ana", "token", "")
		wantCode(t, err, "iap_disabled")
	})
}

func TestAProductThatLeavesTheMapKeepsItsPackageForThoseWhoBoughtIt(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "token", "gold_monthly")
		f.selling.Packages = map[string]int64{"silver_monthly": silver}
		f.change("token", renewed)
		f.mustVerify(t, "ana", "token")
		f.wantMembership(t, "ana", entitle.Active, gold, 2)
		f.sell("another", sub("gold_monthly", f.accountOf("ben")))
		_, err := f.Verify(t.Context(), "ben", "another", "")
		wantCode(t, err, "product_not_mapped")
	})
}

func TestWhileTheStoreIsDownAccessContinuesForTheLeeway(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "token", "gold_monthly")
		f.eventTypes()
		f.setDown(unavailable)
		f.clock.Move(month.Sub(noon) + time.Minute)
		for range 5 {
			f.run(t)
			f.wantMembership(t, "ana", entitle.Active, gold, 1)
			f.clock.Move(time.Hour)
		}
		f.clock.Move(2 * time.Hour)
		f.run(t)
		f.wantMembership(t, "ana", entitle.Expired, gold, 2)
		f.wantEvents(t, "suspended ana")
		f.setDown(nil)
		f.change("token", renewed)
		f.clock.Move(2 * time.Hour)
		f.run(t)
		f.wantMembership(t, "ana", entitle.Active, gold, 3)
		f.wantEvents(t, "resumed ana")
	})
}

func TestAPurchaseThatTheStoreForgotHasEnded(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		o := f.bought(t, "ana", "token", "gold_monthly")
		f.setDown(&play.Error{Reason: play.Gone})
		_, err := f.Refresh(t.Context(), program, o.Purchase.ID)
		wantCode(t, err, "purchase_gone")
		f.wantMembership(t, "ana", entitle.Expired, gold, 2)
		_, err = f.Refresh(t.Context(), program, o.Purchase.ID)
		wantCode(t, err, "purchase_gone")
		f.wantMembership(t, "ana", entitle.Expired, gold, 2)
	})
}

func TestHeldPurchasesAreReadUntilTheyRecover(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "token", "gold_monthly")
		f.change("token", state(play.OnHold))
		f.mustVerify(t, "ana", "token")
		f.clock.Move(12 * time.Hour)
		asked := f.store.count("token")
		f.run(t)
		if got := f.store.count("token") - asked; got != 1 {
			t.Errorf("the store was asked %d times", got)
		}
		f.change("token", renewed)
		f.clock.Move(12 * time.Hour)
		f.run(t)
		f.wantMembership(t, "ana", entitle.Active, gold, 3)
	})
}

func TestAClockThatJumpsNeverEndsWhatTheStoreSaysIsPaid(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "token", "gold_monthly")
		f.clock.Move(100 * 24 * time.Hour) // ahead, and back
		f.run(t)
		f.wantMembership(t, "ana", entitle.Active, gold, 1)
		f.clock.Move(-101 * 24 * time.Hour)
		f.run(t)
		f.mustVerify(t, "ana", "token")
		f.wantMembership(t, "ana", entitle.Active, gold, 1)
	})
}

func TestTestPurchasesAreMarked(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.sell("test", sub("gold_monthly", ""))
		f.change("test", func(s *play.Subscription) { s.Test = true })
		if o := f.mustVerify(t, "ana", "test"); o.Purchase.Environment != "test" {
			t.Errorf("%+v", o.Purchase)
		}
		f.selling.Simulated, f.selling.ServiceAccount = true, nil
		f.sell("simulated", sub("gold_monthly", ""))
		if o := f.mustVerify(t, "ben", "simulated"); o.Purchase.Environment != "simulated" {
			t.Errorf("%+v", o.Purchase)
		}
		for _, e := range f.events {
			if e.Environment == string(entitle.Production) {
				t.Errorf("%+v", e)
			}
		}
	})
}

func TestEachEnvironmentIsAskedOnlyItsOwnPurchases(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "real", "gold_monthly")
		f.selling.Simulated = true
		f.bought(t, "ben", "simulated", "gold_monthly")
		f.clock.Move(month.Sub(noon) + 7*time.Hour)
		f.store.change("real", renewed)
		f.simulated.change("simulated", renewed)
		f.run(t)
		f.wantMembership(t, "ana", entitle.Active, gold, 2)
		f.wantMembership(t, "ben", entitle.Active, gold, 2)
		f.selling.Simulated = false // without the publication that ends the simulated purchases
		f.store.change("real", renewed)
		f.clock.Move(33 * 24 * time.Hour)
		f.run(t)
		f.wantMembership(t, "ana", entitle.Active, gold, 3)
		f.wantMembership(t, "ben", entitle.Expired, gold, 3)
		if f.simulated.count("real")+f.store.count("simulated") > 0 {
			t.Error("a store was asked about a purchase of the other one")
		}
	})
}
