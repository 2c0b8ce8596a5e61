package entitle

import (
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/play"
)

var (
	noon     = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	tomorrow = noon.Add(24 * time.Hour)
	past     = noon.Add(-time.Hour)
)

func none(string) bool { return false }

// gold is a subscription with one item.
func gold(state play.State, expires time.Time) play.Subscription {
	return play.Subscription{State: state, Items: []play.Item{{ProductID: "gold", ExpiresAt: expires, OrderID: "GPA.1", AutoRenews: true}}}
}

func TestAccessFollowsTheStateOfTheSubscription(t *testing.T) {
	cases := []struct {
		name    string
		state   play.State
		expires time.Time
		status  Status
		access  bool
	}{
		{"a pending payment has no access", play.Pending, time.Time{}, Pending, false},
		{"active has access", play.Active, tomorrow, Active, true},
		{"active has access after its expiry, while the store retries the payment in silence", play.Active, past, Active, true},
		{"cancelled keeps the time that is paid", play.Canceled, tomorrow, Active, true},
		{"cancelled ends with the time that is paid", play.Canceled, noon, Expired, false},
		{"grace has access", play.InGracePeriod, past, Grace, true},
		{"on hold has no access", play.OnHold, past, OnHold, false},
		{"paused has no access", play.Paused, past, Paused, false},
		{"expired has no access", play.Expired, past, Expired, false},
		{"a payment that was never made has no access", play.PendingPurchaseCanceled, time.Time{}, Failed, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := Decide(gold(c.state, c.expires), Decision{}, none, noon)
			if got.Status != c.status || got.Access != c.access || got.Unknown || !got.Until.Equal(c.expires) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestAnUnknownStateKeepsTheLastDecisionUntilItsExpiry(t *testing.T) {
	cases := []struct {
		name string
		last Decision
		want Decision
	}{
		{"paid time remains", Decision{Status: Active, Access: true, Until: tomorrow}, Decision{Status: Active, Access: true, Until: tomorrow, Unknown: true}},
		{"the paid time has passed", Decision{Status: Active, Access: true, Until: noon}, Decision{Status: Expired, Until: noon, Unknown: true}},
		{"no access stays no access", Decision{Status: OnHold, Until: past}, Decision{Status: OnHold, Until: past, Unknown: true}},
		{"a purchase that was never decided on waits", Decision{}, Decision{Status: Pending, Unknown: true}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			expect.Equal(t, Decide(gold("SOMETHING_NEW", tomorrow), c.last, none, noon), c.want)
		})
	}
}

func TestOnlyTheVoidOfTheCurrentOrderEndsAccess(t *testing.T) {
	two := gold(play.Active, tomorrow)
	two.Items = append(two.Items, play.Item{ProductID: "extra", ExpiresAt: tomorrow, OrderID: "GPA.2"})
	unpaid := gold(play.Active, tomorrow)
	unpaid.Items[0].OrderID = ""
	cases := []struct {
		name   string
		s      play.Subscription
		voided string
		want   Status
	}{
		{"the current order", gold(play.Active, tomorrow), "GPA.1", Revoked},
		{"an earlier order", gold(play.Active, tomorrow), "GPA.0", Active},
		{"one of two current orders", two, "GPA.2", Active},
		{"no order at all", unpaid, "", Active},
		{"the order of an expired purchase", gold(play.Expired, past), "GPA.1", Revoked},
		{"the order of a purchase on hold", gold(play.OnHold, past), "GPA.1", OnHold},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := Decide(c.s, Decision{}, func(order string) bool { return order == c.voided }, noon)
			if got.Status != c.want || got.Access != (c.want == Active) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestASubscriptionThatEndsBeforeItsPaidTimeWasRevoked(t *testing.T) {
	replaced := gold(play.Expired, noon)
	replaced.CanceledBy = "replacement"
	active := Decision{Status: Active, Access: true, Until: tomorrow}
	cases := []struct {
		name string
		s    play.Subscription
		last Decision
		want Status
	}{
		{"it was active and paid", gold(play.Expired, noon), active, Revoked},
		{"it stays revoked", gold(play.Expired, noon), Decision{Status: Revoked}, Revoked},
		{"its time had passed", gold(play.Expired, noon), Decision{Status: Active, Access: true, Until: past}, Expired},
		{"a plan that was replaced ends early by itself", replaced, active, Expired},
		{"in grace the end is not paid for", gold(play.Expired, noon), Decision{Status: Grace, Access: true, Until: tomorrow}, Expired},
		{"it was bought again", gold(play.Active, tomorrow), Decision{Status: Revoked}, Active},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := Decide(c.s, c.last, none, noon); got.Status != c.want {
				t.Errorf("%+v, want %s", got, c.want)
			}
		})
	}
}

func TestWhichItemsCount(t *testing.T) {
	cases := []struct {
		name    string
		expires time.Time
		end     time.Time
		want    bool
	}{
		{"an item that is paid", tomorrow, tomorrow, true},
		{"an item that ends before the others do", noon.Add(time.Hour), tomorrow, true},
		{"an item that was removed", past, tomorrow, false},
		{"the last item, while the store retries the payment", past, past, true},
		{"the item of a deferred replacement", time.Time{}, tomorrow, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			expect.Equal(t, ItemCounts(play.Subscription{}, play.Item{ExpiresAt: c.expires}, c.end, noon), c.want)
		})
	}
}

func TestWhatTheUserHasToDo(t *testing.T) {
	consent := play.Item{PriceChange: &play.PriceChange{State: "outstanding", NeedsConsent: true}}
	cases := []struct {
		name   string
		status Status
		item   play.Item
		want   Action
	}{
		{"nothing while active", Active, play.Item{}, ""},
		{"fix the payment in grace", Grace, play.Item{}, FixPayment},
		{"fix the payment on hold", OnHold, consent, FixPayment},
		{"resume a pause", Paused, play.Item{}, Resume},
		{"confirm a price", Active, consent, ConfirmPrice},
		{"a price that needs no consent", Active, play.Item{PriceChange: &play.PriceChange{State: "outstanding"}}, ""},
		{"confirm the price after an offer", Active, play.Item{StepUp: "pending"}, ConfirmPrice},
		{"the price after an offer that was confirmed", Active, play.Item{StepUp: "confirmed"}, ""},
		{"a price that was confirmed", Active, play.Item{PriceChange: &play.PriceChange{State: "confirmed", NeedsConsent: true}}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			expect.Equal(t, ActionFor(c.status, c.item), c.want)
		})
	}
}

func TestWhatRenews(t *testing.T) {
	for state, want := range map[play.State]bool{
		play.Active: true, play.InGracePeriod: true, play.OnHold: true, play.Paused: true,
		play.Canceled: false, play.Expired: false, play.Pending: false, "SOMETHING_NEW": false,
	} {
		expect.Equalf(t, WillRenew(state, play.Item{AutoRenews: true}), want, "%s", state)
		if WillRenew(state, play.Item{Prepaid: true}) {
			t.Errorf("%s: a prepaid plan renews", state)
		}
	}
}

func TestWhichPurchasesRetireTheirPredecessor(t *testing.T) {
	linked := func(state play.State) play.Subscription {
		s := gold(state, tomorrow)
		s.LinkedToken = "before"
		return s
	}
	deferred := linked(play.Active)
	deferred.Items[0].Deferred = "silver"
	cases := []struct {
		name string
		s    play.Subscription
		want bool
	}{
		{"a paid one does", linked(play.Active), true},
		{"one that has expired since does", linked(play.Expired), true},
		{"a pending one does not", linked(play.Pending), false},
		{"one that was never paid does not", linked(play.PendingPurchaseCanceled), false},
		{"one with a deferred replacement does not", deferred, false},
		{"one without a predecessor does not", gold(play.Active, tomorrow), false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			expect.Equal(t, Retires(c.s), c.want)
		})
	}
}
