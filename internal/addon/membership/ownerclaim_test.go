package membership

import (
	"crypto/sha256"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play"
)

// foreign sells a purchase that another backend made, and has a user present it.
func (f *fixture) foreign(t *testing.T, policy entitle.UnknownPolicy, user, token string) (Outcome, error) {
	t.Helper()
	f.selling.Policy.Unknown = policy
	f.sell(token, sub("gold_monthly", "of another backend"))
	return f.Verify(t.Context(), user, token, "")
}

// purchaseOf reads the purchase of a token.
func (f *fixture) purchaseOf(t *testing.T, token string) addondb.Purchase {
	t.Helper()
	p := must.Get(f.db.PurchaseByToken(t.Context(), platform, digestOf(f.box(), token)))(t)
	return p
}

func (f *fixture) wantAlerts(t *testing.T, want int) {
	t.Helper()
	if alerts, err := f.Alerts(t.Context(), program); err != nil || len(alerts) != want {
		t.Errorf("alerts %+v, %v; want %d", alerts, err, want)
	}
}

func TestThePolicyForPurchasesOfAnotherBackend(t *testing.T) {
	cases := []struct {
		policy     entitle.UnknownPolicy
		code       string // of the refusal
		pending    bool
		membership entitle.Status
		events     []string
	}{
		{entitle.RefuseUnknown, "owned_by_other_user", false, entitle.None, []string{"purchase.theft_suspected ana"}},
		{entitle.AskSite, "", true, entitle.Pending, []string{"changed ana", "purchase.owner_unknown ana"}},
		{"", "", true, entitle.Pending, []string{"changed ana", "purchase.owner_unknown ana"}},
		{entitle.FirstVerified, "", false, entitle.Active, []string{"activated ana"}},
	}
	for _, c := range cases {
		t.Run("policy "+string(c.policy), func(t *testing.T) {
			engines(t, func(t *testing.T, f *fixture) {
				for range 2 { // the app presents it again at each start
					o, err := f.foreign(t, c.policy, "ana", "token")
					wantCode(t, err, c.code)
					if o.Pending != c.pending || c.pending && o.Purchase != nil {
						t.Errorf("%+v", o)
					}
				}
				if m, err := membershipOf(t.Context(), f.db, "ana"); err != nil || m.Status != string(c.membership) {
					t.Errorf("%+v, %v", m, err)
				}
				f.wantEvents(t, c.events...)
				if acknowledged := f.store.count("acknowledge token") > 0; acknowledged != (c.membership == entitle.Active) {
					t.Errorf("acknowledged %t", acknowledged)
				}
			})
		})
	}
}

func TestTheFirstVerifiedUserKeepsAPurchaseOfAnotherBackend(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		must.Get(f.foreign(t, entitle.FirstVerified, "ana", "one"))(t)
		_, _, err := f.Restore(t.Context(), "ben", []string{"one"})
		must.Do(t, err)
		f.selling.Policy.Unknown = entitle.RefuseUnknown
		f.mustVerify(t, "ana", "one")
		upgrade := linked("silver_monthly", "of another backend", "one")
		f.sell("two", upgrade)
		f.mustVerify(t, "ana", "two")
		f.wantMembership(t, "ana", entitle.Active, silver, 2)
		f.wantMembership(t, "ben", entitle.None, 0, 0)
	})
}

func TestTheSiteDecidesToWhomAPurchaseBelongs(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		for _, user := range []string{"ana", "ben", "eva"} {
			must.Get(f.foreign(t, entitle.AskSite, user, "token"))(t)
		}
		name := f.purchaseOf(t, "token").Name
		if intent, err := f.Intend(t.Context(), "ana", [][sha256.Size]byte{sha256.Sum256([]byte("token"))}); err != nil || intent.OwnedByOther {
			t.Errorf("%+v, %v", intent, err)
		}
		f.wantAlerts(t, 1)
		f.eventTypes()
		must.Get(f.RefuseOwner(t.Context(), program, name, "ben", "not the buyer"))(t)
		f.wantMembership(t, "ben", entitle.None, 0, 2)
		_, err := f.Verify(t.Context(), "ben", "token", "")
		wantCode(t, err, "owned_by_other_user")
		_, err = f.RefuseOwner(t.Context(), program, name, "ben", "again")
		wantCode(t, err, "no_claim")
		f.wantAlerts(t, 1)
		must.Get(f.Transfer(t.Context(), program, name, "ana", "the buyer"))(t)
		f.wantMembership(t, "ana", entitle.Active, gold, 2)
		f.wantMembership(t, "eva", entitle.None, 0, 2)
		f.wantAlerts(t, 0)
		f.wantEvents(t, "changed ben", "activated ana", "changed eva")
		if f.run(t); f.store.count("acknowledge token") != 1 {
			t.Error("the purchase was not acknowledged")
		}
		_, err = f.Verify(t.Context(), "eva", "token", "")
		wantCode(t, err, "owned_by_other_user")
		if o := f.mustVerify(t, "ana", "token"); o.Result == ResultQueued {
			t.Errorf("%+v", o)
		}
	})
}

func TestAClaimEndsWithItsPurchase(t *testing.T) {
	ends := map[string]func(t *testing.T, f *fixture){
		"it expires": func(t *testing.T, f *fixture) {
			f.change("token", func(s *play.Subscription) { s.State = play.Expired })
			must.Get(f.Refresh(t.Context(), program, f.purchaseOf(t, "token").Name))(t)
		},
		"the store forgets it": func(t *testing.T, f *fixture) {
			f.setDown(&play.Error{Reason: play.Gone})
			_, err := f.Refresh(t.Context(), program, f.purchaseOf(t, "token").Name)
			wantCode(t, err, "purchase_gone")
		},
		"its buyer is found": func(t *testing.T, f *fixture) {
			must.Get(f.Intend(t.Context(), "ben", nil))(t)
			f.change("token", func(s *play.Subscription) { s.Account = f.accountOf("ben") })
			f.mustVerify(t, "ben", "token")
		},
		"another purchase takes its place": func(t *testing.T, f *fixture) {
			f.sell("two", linked("gold_monthly", f.accountOf("ben"), "token"))
			f.mustVerify(t, "ben", "two")
		},
		"its user is erased": func(t *testing.T, f *fixture) {
			must.Get(f.Erase(t.Context(), program, "ana", false))(t)
		},
		"its user is merged": func(t *testing.T, f *fixture) {
			must.Get(f.Merge(t.Context(), program, "ana", "eva"))(t)
			f.wantMembership(t, "eva", entitle.Pending, 0, 1)
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			engines(t, func(t *testing.T, f *fixture) {
				must.Get(f.foreign(t, entitle.AskSite, "ana", "token"))(t)
				end(t, f)
				if m, err := membershipOf(t.Context(), f.db, "ana"); err != nil || m.Status != string(entitle.None) {
					t.Errorf("%+v, %v", m, err)
				}
			})
		})
	}
}

func TestAnEndedPurchaseOfAnotherBackendIsNotAskedAbout(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.clock.Move(month.Sub(noon) + time.Hour)
		f.selling.Policy.Unknown = entitle.AskSite
		ended := sub("gold_monthly", "of another backend")
		ended.State = play.Expired
		f.sell("token", ended)
		_, err := f.Verify(t.Context(), "ana", "token", "")
		wantCode(t, err, "owned_by_other_user")
		f.wantEvents(t)
		f.wantAlerts(t, 0)
	})
}

// The account id of an erased user is still one that this site handed out.
func TestThePurchaseOfAnErasedUserIsNobodys(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.selling.Policy.Unknown = entitle.FirstVerified
		intend := func() {
			must.Get(f.Intend(t.Context(), "ana", nil))(t)
		}
		intend()
		f.bought(t, "ana", "token", "gold_monthly")
		must.Get(f.Erase(t.Context(), program, "ana", true))(t)
		_, err := f.Verify(t.Context(), "ben", "token", "")
		wantCode(t, err, "owned_by_other_user")
		intend() // the user comes back
		if user, err := f.db.IdentityUser(t.Context(), f.accountOf("ana")); err != nil || user != "ana" {
			t.Errorf("%q, %v", user, err)
		}
	})
}

func TestATransferHoldsForWhatTakesThePlaceOfThePurchase(t *testing.T) {
	successors := map[string]func(f *fixture) play.Subscription{
		"bought again in the store": func(f *fixture) play.Subscription {
			again := sub("gold_monthly", "")
			again.OutOfApp = &play.OutOfApp{ExpiredToken: "one", Account: f.accountOf("ana")}
			return again
		},
		"with a linked token":                    func(f *fixture) play.Subscription { return linked("gold_monthly", "", "one") },
		"with a linked token and the account id": func(f *fixture) play.Subscription { return linked("gold_monthly", f.accountOf("ana"), "one") },
	}
	for name, successor := range successors {
		t.Run(name, func(t *testing.T) {
			engines(t, func(t *testing.T, f *fixture) {
				for _, user := range []string{"ana", "ben"} {
					must.Get(f.Intend(t.Context(), user, nil))(t)
				}
				first := f.bought(t, "ana", "one", "gold_monthly")
				must.Get(f.Transfer(t.Context(), program, first.Purchase.ID, "ben", "support"))(t)
				again := successor(f)
				again.Items[0].ExpiresAt, again.Items[0].OrderID = month.AddDate(0, 1, 0), "GPA.9"
				f.sell("two", again)
				must.Do(t, f.Receive(t.Context(), notification("m1", 4, "two"), []byte(`{}`)))
				f.run(t)
				if p := f.purchaseOf(t, "two"); p.UserID != "ben" || !p.Transferred || !p.Acknowledged {
					t.Errorf("%+v", p)
				}
				_, err := f.Verify(t.Context(), "ana", "two", "")
				wantCode(t, err, "owned_by_other_user")
				f.mustVerify(t, "ben", "two")
				f.sell("three", linked("silver_monthly", f.accountOf("ana"), "two")) // and so on
				f.mustVerify(t, "ben", "three")
				f.wantStatus(t, "two", entitle.Superseded)
			})
		})
	}
}
