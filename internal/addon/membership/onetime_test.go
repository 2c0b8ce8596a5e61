package membership

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play"
)

const day = 24 * time.Hour

// sellOnce maps two products that are bought once: gold for ever, and gold for 30 days.
func (f *fixture) sellOnce() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.selling.Packages = map[string]int64{"silver_monthly": silver, "gold_monthly": gold, "gold_forever": gold, "gold_pass": gold}
	f.selling.OneTime = map[string]int64{"gold_forever": entitle.Lifetime, "gold_pass": 30}
}

// once is one of a product that was paid now.
func (f *fixture) once(product, account, order string) play.Subscription {
	return play.Subscription{
		OneTime: true, State: play.Purchased, Account: account, StartedAt: f.clock.Now(), Region: "DE",
		Items: []play.Item{{ProductID: product, BasePlanID: "buy", OrderID: order, Quantity: 1}},
	}
}

// boughtOnce sells and verifies a product that is bought once.
func (f *fixture) boughtOnce(t *testing.T, user, token, product string) Outcome {
	t.Helper()
	f.sell(token, f.once(product, f.accountOf(user), "GPA."+token))
	o := must.Get(f.Verify(t.Context(), user, token, product))(t)
	return o
}

// refunded has the store refund an order with its access, and say so.
func (f *fixture) refunded(t *testing.T, token string) {
	t.Helper()
	f.change(token, func(s *play.Subscription) { s.State = play.Cancelled })
	f.listed(t, token)
}

// listed has the store list an order as void, and say so.
func (f *fixture) listed(t *testing.T, token string) {
	t.Helper()
	f.store.voided = []play.Voided{{Token: token, OrderID: "GPA." + token, VoidedAt: f.clock.Now()}}
	n := notification("void of "+token, 0, token)
	n.Kind = play.OfVoid
	f.receive(t, n)
}

// wantUntil compares the end of a user's membership, zero for none.
func (f *fixture) wantUntil(t *testing.T, user string, want time.Time) {
	t.Helper()
	m, err := membershipOf(t.Context(), f.db, user)
	if err != nil || !m.Until.Equal(want) {
		t.Errorf("%s has it until %s, %v, want %s", user, m.Until, err, want)
	}
}

func TestAPackageThatIsBoughtForEver(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.sellOnce()
		o := f.boughtOnce(t, "ana", "one", "gold_forever")
		if p := o.Purchase; p == nil || !p.OneTime || !p.Acknowledged || p.AutoRenewing || p.ExpiresAt != nil || o.Membership.Until != nil || o.Membership.ManageURL != nil {
			t.Errorf("%+v", o)
		}
		if f.store.count("acknowledge one") != 1 || f.store.count("consume one") != 0 {
			t.Error("it was not acknowledged")
		}
		f.wantEvents(t, "activated ana")
		f.clock.Move(400 * day)
		f.run(t)
		f.wantMembership(t, "ana", entitle.Active, gold, 1)
		intent, err := f.Intend(t.Context(), "ana", nil)
		if err != nil || intent.Current != nil {
			t.Errorf("a subscription has to replace it: %+v, %v", intent.Current, err)
		}
		_, err = f.Cancel(t.Context(), operator, o.Purchase.ID, false)
		wantCode(t, err, "one_time_purchase")
		_, err = f.Revoke(t.Context(), operator, o.Purchase.ID, true)
		wantCode(t, err, "one_time_purchase")
		_, err = f.Defer(t.Context(), operator, o.Purchase.ID, 3)
		wantCode(t, err, "not_renewing")
		if _, err = f.Revoke(t.Context(), operator, o.Purchase.ID, false); err != nil || f.store.count("refund GPA.one") != 1 {
			t.Errorf("the order was not refunded: %v", err)
		}
		f.refunded(t, "one")
		f.wantEvents(t, "purchase.refunded ana", "revoked ana")
	})
}

func TestDaysAreConsumedAndAddUp(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.sellOnce()
		if o := f.boughtOnce(t, "ana", "one", "gold_pass"); !o.Purchase.Acknowledged || f.store.count("consume one") != 1 || f.store.count("acknowledge one") != 0 {
			t.Errorf("it was not consumed: %+v", o.Purchase)
		}
		f.wantUntil(t, "ana", noon.Add(30*day))
		f.clock.Move(10 * day)
		second := f.boughtOnce(t, "ana", "two", "gold_pass")
		f.wantUntil(t, "ana", noon.Add(60*day))
		f.wantEvents(t, "activated ana", "renewed ana")
		f.mu.Lock()
		f.selling.OneTime = map[string]int64{"gold_forever": entitle.Lifetime, "gold_pass": 7} // a purchase keeps its days
		f.mu.Unlock()
		f.clock.Move(day)
		f.refunded(t, "one")
		f.wantUntil(t, "ana", noon.Add(40*day))
		f.wantEvents(t, "purchase.refunded ana", "changed ana")
		f.clock.Set(noon.Add(40*day + time.Hour))
		f.run(t)
		f.wantEvents(t, "expired ana")
		if p, err := f.db.Purchase(t.Context(), second.Purchase.ID); err != nil || p.Status != string(entitle.Expired) {
			t.Errorf("%s, %v", p.Status, err)
		}
	})
}

func TestDaysThatAreVerifiedAtOnceAddUp(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.sellOnce()
		tokens := []string{"one", "two", "three"}
		var all sync.WaitGroup
		for _, token := range tokens {
			f.sell(token, f.once("gold_pass", f.accountOf("ana"), "GPA."+token))
			all.Go(func() {
				if _, err := f.Verify(t.Context(), "ana", token, "gold_pass"); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		f.wantUntil(t, "ana", noon.Add(90*day))
	})
}

// Of a quantity, what was refunded does not count.
func TestAQuantityOfDaysIsRefundedInPart(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.sellOnce()
		three := f.once("gold_pass", f.accountOf("ana"), "GPA.1")
		three.Items[0].Quantity = 3
		f.sell("one", three)
		must.Get(f.Verify(t.Context(), "ana", "one", ""))(t)
		f.wantUntil(t, "ana", noon.Add(90*day))
		must.Do(t, f.db.Tx(t.Context(), func(tx *addondb.DB) error {
			o, err := tx.LockOrder(t.Context(), "GPA.1")
			o.ReadAt = f.timestamp()
			return errors.Join(err, tx.UpdateOrder(t.Context(), o))
		}))
		f.change("one", func(s *play.Subscription) { s.Items[0].Quantity = 2 })
		n := notification("m1", 0, "one")
		n.Kind = play.OfVoid
		f.receive(t, n)
		f.wantUntil(t, "ana", noon.Add(60*day))
		if due, err := f.db.DueOrders(t.Context(), at(f.clock.Now().Add(ordersWait)), 1); err != nil || len(due) != 1 {
			t.Errorf("the order is not read again: %+v, %v", due, err)
		}
	})
}

func TestDaysThatMoveToAnotherUserFollowTheirs(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.sellOnce()
		first := f.boughtOnce(t, "ana", "one", "gold_pass")
		f.boughtOnce(t, "ana", "two", "gold_pass")
		f.boughtOnce(t, "ben", "three", "gold_pass")
		must.Get(f.Transfer(t.Context(), operator, first.Purchase.ID, "ben", "a gift"))(t)
		f.run(t)
		f.wantUntil(t, "ana", noon.Add(30*day))
		f.wantUntil(t, "ben", noon.Add(60*day))
		must.Get(f.Merge(t.Context(), operator, "ana", "ben"))(t)
		f.run(t)
		f.wantUntil(t, "ben", noon.Add(90*day))
	})
}

// A process that is killed after the store has consumed a purchase finds that out by reading it.
func TestAConsumptionThatWasNotWrittenIsFoundByReading(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.sellOnce()
		f.store.refusing = errors.New("the store is down")
		o := f.boughtOnce(t, "ana", "one", "gold_pass")
		if o.Purchase.Acknowledged {
			t.Fatal("it was consumed")
		}
		f.store.refusing = nil
		f.change("one", func(s *play.Subscription) { s.Items[0].Consumed = true })
		f.clock.Move(time.Minute)
		f.run(t)
		f.clock.Move(time.Minute)
		if failed := f.run(t); failed != nil {
			t.Errorf("it is still tried: %v", failed)
		}
		if p, err := f.db.Purchase(t.Context(), o.Purchase.ID); err != nil || !p.Acknowledged || !p.AcknowledgeSince.IsZero() {
			t.Errorf("%+v, %v", p, err)
		}
	})
}

func TestWhatKindATokenIsOf(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		cases := []struct {
			name, token, product, code string
			once, sold                 bool
			reads                      int
		}{
			{"a one-time product by its id", "a", "gold_pass", "", true, true, 1},
			{"a one-time product without an id", "b", "", "", true, true, 2},
			{"a subscription by its id", "c", "gold_monthly", "", false, true, 1},
			{"nothing is bought once while no product is", "d", "", "invalid_token", true, false, 3},
			{"a one-time product of which the site sells a subscription", "e", "silver_monthly", "not_a_subscription", true, true, 2},
			{"another one-time product", "f", "", "product_not_mapped", true, true, 2},
		}
		products := map[string]string{"e": "silver_monthly", "f": "coins", "c": "gold_monthly"}
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				f.selling.OneTime = nil
				if c.sold {
					f.sellOnce()
				}
				product := products[c.token]
				if product == "" {
					product = "gold_pass"
				}
				sold := sub(product, f.accountOf("ana"))
				if c.once {
					sold = f.once(product, f.accountOf("ana"), "GPA."+c.token)
				}
				f.sell(c.token, sold)
				o, err := f.claim(t.Context(), c.token, request{cause: causeRestore, user: "ana", product: c.product})
				if o.Result == ResultQueued {
					c.code = ""
				}
				wantCode(t, err, c.code)
				if reads := f.store.count(c.token); reads != c.reads {
					t.Errorf("the store was asked %d times", reads)
				}
			})
		}
	})
}

// Apps sell one-time products without the site, too.
func TestNotificationsAboutOtherOneTimeProducts(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.sellOnce()
		f.sell("coins", f.once("coins", "", "GPA.1"))
		n := notification("m1", 1, "coins")
		n.Kind, n.ProductID = play.OfOneTime, "coins"
		void := notification("m2", 0, "coins")
		void.Kind = play.OfVoid
		f.receive(t, n, void)
		if open, err := f.db.OpenAlerts(t.Context()); err != nil || len(open) > 0 {
			t.Errorf("%+v, %v", open, err)
		}
		lines, err := f.CheckCatalogue(t.Context(), operator)
		if err != nil || len(lines) != 4 || lines[0].Problem != "" {
			t.Errorf("%+v, %v", lines, err)
		}
		f.store.onceSold = f.store.onceSold[1:]
		if lines, err = f.CheckCatalogue(t.Context(), operator); err != nil || lines[0].Problem != "The store has no one-time product gold_forever" {
			t.Errorf("%+v, %v", lines, err)
		}
	})
}
