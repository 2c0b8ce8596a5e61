package membership

import (
	"fmt"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play"
)

// linked is a subscription that takes the place of another one.
func linked(product, account, before string) play.Subscription {
	s := sub(product, account)
	s.LinkedToken, s.Items[0].OrderID = before, "GPA.2"
	return s
}

// wantStatus compares the status of the purchase of a token.
func (f *fixture) wantStatus(t *testing.T, token string, want entitle.Status) {
	t.Helper()
	p, err := f.db.PurchaseByToken(t.Context(), platform, digestOf(f.box(), token))
	if err != nil || p.Status != string(want) || p.Access != (want == entitle.Active || want == entitle.Grace) {
		t.Errorf("%s is %s, access %t, %v; want %s", token, p.Status, p.Access, err, want)
	}
}

func (f *fixture) mustVerify(t *testing.T, user, token string) Outcome {
	t.Helper()
	o := must.Get(f.Verify(t.Context(), user, token, ""))(t)
	return o
}

func TestASuccessorRetiresItsPredecessor(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		first := f.bought(t, "ana", "one", "gold_monthly")
		f.sell("two", linked("silver_monthly", f.accountOf("ana"), "one"))
		o := f.mustVerify(t, "ana", "two")
		if o.Membership.Package.ID != silver || o.Purchase.Replaces == nil || *o.Purchase.Replaces != first.Purchase.ID {
			t.Errorf("%+v", o)
		}
		f.wantStatus(t, "one", entitle.Superseded)
		f.wantStatus(t, "two", entitle.Active)
		f.mustVerify(t, "ana", "one") // which still looks active in the store
		f.wantStatus(t, "one", entitle.Superseded)
		f.wantMembership(t, "ana", entitle.Active, silver, 2)
		f.wantEvents(t, "activated ana", "changed ana")
	})
}

func TestAPredecessorThatArrivesAfterItsSuccessorIsRetired(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.sell("one", sub("gold_monthly", f.accountOf("ana")))
		f.sell("two", linked("silver_monthly", f.accountOf("ana"), "one"))
		f.mustVerify(t, "ana", "two")
		f.mustVerify(t, "ana", "one")
		f.wantStatus(t, "one", entitle.Superseded)
		f.wantMembership(t, "ana", entitle.Active, silver, 1)
	})
}

func TestAPendingSuccessorRetiresNothing(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "one", "silver_monthly")
		pending := linked("gold_monthly", f.accountOf("ana"), "one")
		pending.State, pending.Items[0].ExpiresAt, pending.Items[0].OrderID = play.Pending, time.Time{}, ""
		f.sell("two", pending)
		f.mustVerify(t, "ana", "two")
		f.wantStatus(t, "one", entitle.Active)
		f.wantMembership(t, "ana", entitle.Active, silver, 1)
		f.change("two", func(s *play.Subscription) { s.State = play.PendingPurchaseCanceled })
		asked := f.store.count("one")
		f.mustVerify(t, "ana", "two")
		f.run(t)
		expect.Equalf(t, f.store.count("one"), asked+1, "the old plan was not read again")
		f.wantMembership(t, "ana", entitle.Active, silver, 1)
		f.sell("three", linked("gold_monthly", f.accountOf("ana"), "one"))
		f.mustVerify(t, "ana", "three")
		f.wantStatus(t, "one", entitle.Superseded)
		f.wantMembership(t, "ana", entitle.Active, gold, 2)
	})
}

func TestADeferredReplacementKeepsTheOldPlanUntilItsRenewal(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "one", "gold_monthly")
		deferred := linked("gold_monthly", f.accountOf("ana"), "one")
		deferred.Items[0].Deferred = "silver_monthly"
		f.sell("two", deferred)
		if o, err := f.Verify(t.Context(), "ana", "two", "silver_monthly"); err != nil || o.Membership.Package.ID != gold {
			t.Errorf("%+v, %v", o, err)
		}
		f.wantStatus(t, "one", entitle.Active)
		f.clock.Move(month.Sub(noon))
		f.change("two", func(s *play.Subscription) {
			s.Items[0] = play.Item{ProductID: "silver_monthly", ExpiresAt: month.AddDate(0, 1, 0), OrderID: "GPA.3", AutoRenews: true}
		})
		f.mustVerify(t, "ana", "two")
		f.wantStatus(t, "one", entitle.Superseded)
		m, err := f.Membership(t.Context(), "ana")
		if err != nil || m.Membership.Package.ID != silver {
			t.Errorf("%+v, %v", m, err)
		}
	})
}

func TestAKnownPurchaseBehindUnknownOnesIsRetired(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "t0", "gold_monthly")
		for i := 1; i <= 10; i++ {
			f.sell(fmt.Sprintf("t%d", i), linked("silver_monthly", f.accountOf("ana"), fmt.Sprintf("t%d", i-1)))
		}
		f.mustVerify(t, "ana", "t10")
		f.wantStatus(t, "t0", entitle.Superseded)
		f.wantMembership(t, "ana", entitle.Active, silver, 2)
	})
}

func TestAChainThatIsEndlessOrACycleEnds(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.sell("a", linked("silver_monthly", f.accountOf("ana"), "b"))
		f.sell("b", linked("silver_monthly", f.accountOf("ana"), "a"))
		f.mustVerify(t, "ana", "a")
		f.mustVerify(t, "ana", "b")
		for i := 1; i <= 100; i++ {
			f.sell(fmt.Sprintf("t%d", i), linked("silver_monthly", f.accountOf("eva"), fmt.Sprintf("t%d", i-1)))
		}
		f.mustVerify(t, "eva", "t100")
		if f.store.count("t69") != 1 || f.store.count("t68") != 0 {
			t.Errorf("t69 was asked for %d times, t68 %d times", f.store.count("t69"), f.store.count("t68"))
		}
	})
}

func TestASuccessorWithoutAnAccountIDInheritsTheOwner(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "one", "silver_monthly")
		f.sell("two", linked("gold_monthly", "", "one"))
		_, err := f.Verify(t.Context(), "ben", "two", "")
		wantCode(t, err, "owned_by_other_user")
		must.Do(t, f.Receive(t.Context(), notification("m1", 4, "two"), []byte(`{}`)))
		f.run(t)
		f.wantMembership(t, "ana", entitle.Active, gold, 2)
		f.wantStatus(t, "one", entitle.Superseded)
	})
}

func TestAnAccountIDThatContradictsThePredecessorIsNotOverruled(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "one", "silver_monthly")
		f.sell("two", linked("gold_monthly", f.accountOf("ben"), "one"))
		f.mustVerify(t, "ben", "two")
		f.wantMembership(t, "ben", entitle.Active, gold, 1)
		f.wantMembership(t, "ana", entitle.None, 0, 2)
		f.wantEvents(t, "activated ana", "expired ana", "activated ben")
	})
}

func TestAPrepaidTopUpTakesThePlaceOfTheOneBefore(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		prepaid := func(before string, months int) play.Subscription {
			s := linked("gold_monthly", f.accountOf("ana"), before)
			s.Items[0].Prepaid, s.Items[0].AutoRenews, s.Items[0].ExpiresAt = true, false, noon.AddDate(0, months, 0)
			return s
		}
		f.sell("one", prepaid("", 1))
		f.mustVerify(t, "ana", "one")
		f.sell("two", prepaid("one", 2))
		o := f.mustVerify(t, "ana", "two")
		if o.Membership.WillRenew || !o.Membership.Until.Equal(noon.AddDate(0, 2, 0)) {
			t.Errorf("%+v", o.Membership)
		}
		f.wantStatus(t, "one", entitle.Superseded)
		f.wantEvents(t, "activated ana", "renewed ana")
	})
}

func TestASubscriptionBoughtAgainOutsideOfTheApp(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "one", "gold_monthly")
		f.clock.Move(month.Sub(noon))
		f.change("one", func(s *play.Subscription) { s.State = play.Expired })
		f.mustVerify(t, "ana", "one")
		again := sub("gold_monthly", "")
		again.Items[0].ExpiresAt, again.Items[0].OrderID = month.AddDate(0, 1, 0), "GPA.9"
		again.OutOfApp = &play.OutOfApp{ExpiredToken: "one", Account: f.accountOf("ana")}
		f.sell("two", again)
		_, err := f.Verify(t.Context(), "ben", "two", "")
		wantCode(t, err, "owned_by_other_user")
		must.Do(t, f.Receive(t.Context(), notification("m1", 4, "two"), []byte(`{}`)))
		must.Get(f.Intend(t.Context(), "ana", nil))(t)
		f.run(t)
		f.wantStatus(t, "two", entitle.Active)
		expect.Equalf(t, f.store.accounts["two"], f.accountOf("ana"), "acknowledged with the account id")
		f.mustVerify(t, "ana", "two") // the store has forgotten the context
		p, err := f.db.PurchaseByToken(t.Context(), platform, digestOf(f.box(), "two"))
		if err != nil || p.LinkedDigest == nil || p.UserID != "ana" || !p.Acknowledged {
			t.Errorf("%+v, %v", p, err)
		}
		if kept, err := openTokens(f.box(), p); err != nil || kept.OutOfApp == nil || kept.OutOfApp.ExpiredToken != "one" {
			t.Errorf("what the store has forgotten is lost: %v", err)
		}
		f.wantStatus(t, "one", entitle.Superseded)
	})
}
