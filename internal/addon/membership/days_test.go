package membership

import (
	"slices"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play"
)

// pending has a user verify a product that is not paid yet.
func (f *fixture) pending(t *testing.T, user, token, product string) Outcome {
	t.Helper()
	waiting := f.once(product, f.accountOf(user), "")
	waiting.State, waiting.StartedAt = play.Pending, time.Time{}
	f.sell(token, waiting)
	o, err := f.Verify(t.Context(), user, token, product)
	if err != nil || !o.Pending {
		t.Fatalf("%+v, %v", o, err)
	}
	return o
}

// pays pays what is pending, and has the notification about that processed.
func (f *fixture) pays(t *testing.T, token string) {
	t.Helper()
	f.change(token, func(s *play.Subscription) {
		s.State, s.StartedAt, s.Items[0].OrderID = play.Purchased, f.clock.Now(), "GPA."+token
	})
	n := notification("payment of "+token, 1, token)
	n.Kind, n.ProductID = play.OfOneTime, "gold_pass"
	f.receive(t, n)
}

func TestAPendingOneTimePurchaseWaitsForItsNotification(t *testing.T) {
	cases := []struct {
		name   string
		code   int64
		state  play.State
		status entitle.Status
		events []string
	}{
		{"the payment arrives", 1, play.Purchased, entitle.Active, []string{"activated ana"}},
		{"the payment never arrives", 2, play.Cancelled, entitle.None, []string{"changed ana"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			engines(t, func(t *testing.T, f *fixture) {
				f.sellOnce()
				if o := f.pending(t, "ana", "one", "gold_pass"); o.Purchase.Acknowledged {
					t.Errorf("%+v", o.Purchase)
				}
				f.eventTypes()
				f.change("one", func(s *play.Subscription) {
					if s.State = c.state; c.state == play.Purchased {
						s.StartedAt, s.Items[0].OrderID = f.clock.Now(), "GPA.1"
					}
				})
				n := notification("m1", c.code, "one")
				n.Kind, n.ProductID = play.OfOneTime, "gold_pass"
				f.receive(t, n)
				if m, err := membershipOf(t.Context(), f.db, "ana"); err != nil || m.Status != string(c.status) {
					t.Errorf("%s, %v", m.Status, err)
				}
				if got := f.eventTypes(); !slices.Equal(got, c.events) {
					t.Errorf("events %q", got)
				}
				if consumed := f.store.count("consume one") == 1; consumed != (c.state == play.Purchased) {
					t.Errorf("consumed: %t", consumed)
				}
			})
		})
	}
}

func TestDaysFollowEachOtherInTheOrderOfTheirPayment(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.sellOnce()
		f.pending(t, "ana", "pending", "gold_pass")
		f.sell("late", f.once("gold_pass", f.accountOf("ben"), "GPA.late"))
		f.clock.Move(day)
		f.boughtOnce(t, "ana", "two", "gold_pass")
		f.boughtOnce(t, "ben", "early", "gold_pass")
		f.clock.Move(day)
		f.pays(t, "pending")
		f.wantUntil(t, "ana", noon.Add(61*day)) // the day between the payments is used up
		f.mustVerify(t, "ben", "late")
		f.run(t)
		f.wantUntil(t, "ben", noon.Add(60*day))
	})
}

func TestWhatIsBoughtForEverIsNeverOverdue(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.sellOnce()
		f.pending(t, "ana", "one", "gold_forever") // it is read again in twelve hours
		f.pays(t, "one")
		f.setDown(unavailable)
		f.clock.Move(13 * time.Hour)
		f.run(t)
		f.wantMembership(t, "ana", entitle.Active, gold, 2)
	})
}

// Google may forget a purchase that was consumed.
func TestAConsumedPurchaseThatTheStoreForgetsKeepsItsDays(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.sellOnce()
		first := f.boughtOnce(t, "ana", "one", "gold_pass")
		f.boughtOnce(t, "ana", "two", "gold_pass")
		for _, reason := range []play.Reason{play.TokenNotFound, play.InvalidToken, play.Gone} {
			f.setDown(&play.Error{Reason: reason})
			if _, err := f.Refresh(t.Context(), operator, first.Purchase.ID); err != nil {
				t.Errorf("%s: %v", reason, err)
			}
			f.wantUntil(t, "ana", noon.Add(60*day))
		}
		f.setDown(nil)
		f.eventTypes()
		delete(f.store.subs, "one")
		f.listed(t, "one")
		f.wantStatus(t, "one", entitle.Revoked)
		f.wantUntil(t, "ana", noon.Add(30*day))
		f.wantEvents(t, "purchase.refunded ana", "changed ana")
	})
}

// The app, or another process that verifies it, consumes a purchase while it is verified.
func TestWhatWasConsumedMeanwhileIsAccepted(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.sellOnce()
		f.point = func() {
			if f.store.count("one") > 0 {
				f.change("one", func(s *play.Subscription) { s.Items[0].Consumed = true })
			}
		}
		if o := f.boughtOnce(t, "ana", "one", "gold_pass"); !o.Purchase.Acknowledged {
			t.Errorf("%+v", o.Purchase)
		}
		f.wantAlerts(t, 0)
	})
}

func TestWhatIsNotPaidYetIsNotRefunded(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.sellOnce()
		o := f.pending(t, "ana", "one", "gold_pass")
		_, err := f.Revoke(t.Context(), operator, o.Purchase.ID, false)
		wantCode(t, err, "no_order")
	})
}

func TestAPaymentForAProductThatLeftTheMapMeanwhile(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.sellOnce()
		f.pending(t, "ana", "one", "gold_pass")
		f.selling.Packages, f.selling.OneTime = map[string]int64{"gold_monthly": gold}, nil
		f.pays(t, "one")
		f.wantUntil(t, "ana", noon.Add(30*day))
		expect.Equalf(t, f.store.count("consume one"), 1, "it was not consumed")
	})
}

func TestARefundWhileTheVerificationIsQueued(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.sellOnce()
		f.sell("one", f.once("gold_pass", f.accountOf("ana"), "GPA.one"))
		f.setDown(unavailable)
		f.wantQueued(t, "ana", "one")
		f.change("one", func(s *play.Subscription) { s.State = play.Cancelled })
		f.setDown(nil)
		f.later(t, 15*time.Minute)
		if m, err := f.Membership(t.Context(), "ana"); err != nil || m.Membership.Active || f.store.count("consume one") > 0 {
			t.Errorf("%+v, %v", m.Membership, err)
		}
		f.wantStatus(t, "one", entitle.Revoked)
	})
}

// Each way in which a purchase gets an owner adds its days to those that the owner has.
func TestDaysAddUpWithTheirOwner(t *testing.T) {
	foreign := func(t *testing.T, f *fixture, policy entitle.UnknownPolicy) (Outcome, error) {
		t.Helper()
		f.selling.Policy.Unknown = policy
		return f.Verify(t.Context(), "ben", "two", "")
	}
	ways := map[string]func(t *testing.T, f *fixture){
		"the first user who verifies it": func(t *testing.T, f *fixture) {
			must.Get(foreign(t, f, entitle.FirstVerified))(t)
		},
		"the site decides": func(t *testing.T, f *fixture) {
			if o, err := foreign(t, f, entitle.AskSite); err != nil || !o.Pending {
				t.Fatalf("%+v, %v", o, err)
			}
			if f.run(t); f.store.count("consume two") > 0 {
				t.Error("it was consumed for nobody")
			}
			must.Get(f.Transfer(t.Context(), program, f.purchaseOf(t, "two").Name, "ben", "the buyer"))(t)
		},
		"the site imports it": func(t *testing.T, f *fixture) {
			done, err := f.ImportSubscribers(t.Context(), program, []Subscriber{{Line: 1, User: "ben", Token: "two"}}, ImportOptions{})
			if err != nil || done.New != 1 {
				t.Fatalf("%+v, %v", done, err)
			}
		},
		"the store names another user later": func(t *testing.T, f *fixture) {
			f.change("two", func(s *play.Subscription) { s.Account = "" })
			f.mustVerify(t, "eva", "two")
			f.clock.Move(time.Hour)
			f.boughtOnce(t, "eva", "three", "gold_pass")
			f.wantUntil(t, "eva", noon.Add(60*day))
			f.change("two", func(s *play.Subscription) { s.Account = f.accountOf("ben") })
			f.mustVerify(t, "ben", "two")
			f.run(t)
			f.wantUntil(t, "eva", noon.Add(30*day+time.Hour))
		},
	}
	for name, gets := range ways {
		t.Run(name, func(t *testing.T) {
			engines(t, func(t *testing.T, f *fixture) {
				f.sellOnce()
				f.boughtOnce(t, "ben", "one", "gold_pass")
				f.sell("two", f.once("gold_pass", "of another backend", "GPA.two"))
				gets(t, f)
				f.run(t)
				f.wantUntil(t, "ben", noon.Add(60*day))
				expect.Equalf(t, f.store.count("consume two"), 1, "it was not consumed")
				must.Get(f.Erase(t.Context(), program, "ben", false))(t)
				f.run(t)
				f.wantMembership(t, "ben", entitle.None, 0, 0)
			})
		})
	}
}

func TestDaysOfTestPurchases(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.sellOnce()
		f.boughtOnce(t, "ana", "one", "gold_pass")
		test := f.once("gold_pass", f.accountOf("ana"), "GPA.two")
		test.Test = true
		f.sell("two", test)
		f.selling.TestPurchases.Rule = entitle.DenyTests
		_, err := f.Verify(t.Context(), "ana", "two", "")
		wantCode(t, err, "test_purchase_not_allowed")
		if f.run(t); f.store.count("consume two") > 0 {
			t.Error("it was consumed")
		}
		f.selling.TestPurchases.Rule = entitle.AllowTests
		f.mustVerify(t, "ana", "two")
		f.wantUntil(t, "ana", noon.Add(30*day)) // they do not extend those that were paid
	})
}

func TestDaysThatMoveAreNoRenewals(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.sellOnce()
		first := f.boughtOnce(t, "ana", "one", "gold_pass")
		f.boughtOnce(t, "ana", "two", "gold_pass")
		must.Get(f.Transfer(t.Context(), operator, first.Purchase.ID, "ben", "a gift"))(t)
		f.run(t)
		must.Get(f.doSilence(t.Context(), nil))(t)
		f.wantAlerts(t, 0)
	})
}
