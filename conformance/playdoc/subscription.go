package playdoc

import (
	"time"
)

// The states of subscriptions (Reference, SubscriptionState).
const (
	pending         = "SUBSCRIPTION_STATE_PENDING"
	active          = "SUBSCRIPTION_STATE_ACTIVE"
	paused          = "SUBSCRIPTION_STATE_PAUSED"
	inGrace         = "SUBSCRIPTION_STATE_IN_GRACE_PERIOD"
	onHold          = "SUBSCRIPTION_STATE_ON_HOLD"
	canceled        = "SUBSCRIPTION_STATE_CANCELED"
	expired         = "SUBSCRIPTION_STATE_EXPIRED"
	pendingCanceled = "SUBSCRIPTION_STATE_PENDING_PURCHASE_CANCELED"
)

// Who canceled a subscription (Reference, CanceledStateContext).
const (
	byUser        = "user"
	bySystem      = "system"
	byDeveloper   = "developer"
	byReplacement = "replacement"
)

// silent is how long a declined renewal stays active, even without a grace period
// (Lifecycle, silent grace period).
const silent = 24 * time.Hour

// silence is that day. Chosen: license testers, whose days are minutes, have none.
func (s *subscription) silence() time.Duration {
	if s.purchase.Test {
		return 0
	}
	return silent
}

type subscription struct {
	token    string
	state    string
	items    []*item // one, or two after a deferred replacement: the old one and the new one
	addOns   []*item
	purchase Purchase
	// bought is the time of the purchase, or of its payment, and started that of the grant.
	bought, started time.Time
	renews          bool
	acknowledged    bool
	account         string
	profile         string
	outOfApp        *subscription // the expired one that was bought again
	canceledBy      string
	canceledAt      time.Time
	// pause is the length of a pause that is scheduled or runs; it ends at resumes.
	pause   Period
	resumes time.Time
	// declined is the renewal date whose payment failed, unpaid its order, held the start of
	// the account hold.
	declined, held time.Time
	unpaid         string
	badCard        bool
	orderBase      string // the number that all orders share
	orders         int
	renewals       int
	leaving        bool // canceled by the user, from the last committed payment on
}

// item is a product of a subscription.
type item struct {
	product  string
	plan     Plan
	offer    string
	phase    string
	expires  time.Time // zero for a replacement that has not begun
	order    string    // the last one that was paid
	change   *priceChange
	deferred string // the product that replaces this one at its end
	replaced *replacement
	// removing add-ons end with the paid time, and removed ones have.
	removing, removed bool
}

// current is the item with the entitlement: the old one until a deferred replacement begins.
func (s *subscription) current() *item {
	if s.items[0].deferred != "" {
		return s.items[0]
	}
	return s.items[len(s.items)-1]
}

func (s *subscription) prepaid() bool { return s.current().plan.Prepaid }

// entitled reports whether the user has access: active, in grace, or canceled and not
// expired (Lifecycle).
func (s *subscription) entitled() bool {
	return s.state == active || s.state == inGrace || s.state == canceled
}

// ends reports whether an active subscription ends with the time that is paid.
func (s *subscription) ends() bool {
	return s.tested() || s.leaving && s.committed() == 0 || s.current().refused(s.current().expires)
}

// due returns when the clock changes a subscription next, or the zero time.
func (s *subscription) due() time.Time {
	next := s.dueState()
	if deadline := s.deadline(); !deadline.IsZero() && (next.IsZero() || deadline.Before(next)) {
		return deadline
	}
	return next
}

func (s *subscription) dueState() time.Time {
	switch {
	case s.state == canceled, s.state == active && (s.prepaid() || s.pause != "" || s.ends()):
		return s.current().expires
	case s.state == active && !s.declined.IsZero():
		return s.declined.Add(s.silence())
	case s.state == inGrace:
		return s.current().expires
	case s.state == onHold:
		return s.current().plan.hold().after(s.held)
	case s.state == paused:
		return s.resumes
	}
	return time.Time{}
}

// deadline is when a purchase that nobody acknowledged is refunded: after three days, or
// after half of a prepaid plan of less than a week (Lifecycle, new purchases and prepaid
// plans); or after five minutes for a license tester (Test). Chosen: an expired purchase has
// none.
func (s *subscription) deadline() time.Time {
	if s.acknowledged || s.bought.IsZero() || s.state == expired {
		return time.Time{}
	}
	if end := s.current().plan.Period.after(s.bought); s.prepaid() && end.Before(s.bought.AddDate(0, 0, 7)) {
		return s.bought.Add(end.Sub(s.bought) / 2)
	}
	if s.purchase.Test {
		return s.bought.Add(5 * time.Minute)
	}
	return s.bought.AddDate(0, 0, 3)
}

// pass does what is due at a time.
func (p *Play) pass(s *subscription, at time.Time) {
	switch {
	case at.Equal(s.deadline()):
		p.refuseUnacknowledged(s, at)
	case s.state == canceled, s.state == active && s.prepaid():
		p.expire(s, at)
	case s.state == active && s.declined.IsZero() && s.pause == "" && s.ends():
		p.cancel(s, s.leaver(), at)
		p.expire(s, at)
	case s.state == active && s.pause != "":
		// A pause begins at the end of the period (Lifecycle, paused subscriptions).
		s.state, s.resumes = paused, s.pause.after(at)
		p.notify(s, subscriptionPaused, at)
	case s.state == active:
		p.endSilence(s, at)
	case s.state == inGrace:
		p.startHold(s, at)
	case s.state == onHold:
		// Nobody paid during the hold: canceled, and expired at once (Lifecycle, account hold).
		p.cancel(s, bySystem, at)
		p.expire(s, at)
	case s.state == paused:
		p.resume(s, at)
	}
}

// endSilence puts a declined renewal into its grace period, or on hold when the plan has
// none. The expiry is extended to the end of the grace period (Lifecycle, grace period).
// Chosen: it is extended once, and the silent day counts as a day of grace.
func (p *Play) endSilence(s *subscription, at time.Time) {
	end := s.current().plan.grace().after(s.declined)
	if !end.After(at) {
		p.startHold(s, at)
		return
	}
	s.state = inGrace
	s.setExpiry(end)
	p.notify(s, subscriptionInGracePeriod, at)
}

// startHold takes the access away: the expiry is in the past (Lifecycle, account hold).
// Chosen: it is the time at which the hold began.
func (p *Play) startHold(s *subscription, at time.Time) {
	s.held = at
	s.setExpiry(at)
	if !s.current().plan.hold().after(at).After(at) { // account hold is switched off
		p.cancel(s, bySystem, at)
		p.expire(s, at)
		return
	}
	s.state = onHold
	p.notify(s, subscriptionOnHold, at)
}

// resume ends a pause: the renewal is paid, and the billing date moves; or the payment
// fails, and an account hold begins without grace (Lifecycle, paused subscriptions).
func (p *Play) resume(s *subscription, at time.Time) {
	s.pause, s.resumes = "", time.Time{}
	if s.current().refused(at) {
		p.cancel(s, bySystem, at)
		p.expire(s, at)
		return
	}
	if s.badCard {
		s.declined = at
		s.unpaid = p.charge(s, charge{at: at, from: at, price: s.current().plan.Price, unpaid: true}).id
		p.startHold(s, at)
		return
	}
	p.renewFrom(s, at, at)
	p.notify(s, subscriptionRecovered, at)
}

// cancel stops the renewals. A user's cancellation of a plan in installments waits for the
// committed payments (Lifecycle, cancellations; Reference, CancellationType).
func (p *Play) cancel(s *subscription, by string, at time.Time) {
	if by == byUser && s.committed() > 0 {
		s.leaving = true
		p.notify(s, subscriptionCancellationScheduled, at)
		return
	}
	s.leaving = false
	s.state, s.renews, s.canceledBy, s.canceledAt = canceled, false, by, at
	s.pause, s.resumes = "", time.Time{}
	p.notify(s, subscriptionCanceled, at)
}

// expire ends a subscription. An order that was never paid is canceled.
func (p *Play) expire(s *subscription, at time.Time) {
	p.end(s, at)
	p.notify(s, subscriptionExpired, at)
}

func (p *Play) end(s *subscription, at time.Time) {
	s.state, s.renews, s.pause, s.resumes = expired, false, "", time.Time{}
	for _, item := range s.all() {
		if item.change != nil && item.change.state != priceApplied {
			item.change.state = priceCanceled
		}
		item.deferred = ""
		if item.expires.IsZero() || item.expires.After(at) {
			item.expires = at
		}
	}
	if o := p.orders[s.unpaid]; o != nil {
		o.state, o.canceledAt = "CANCELED", at
	}
	s.unpaid, s.declined = "", time.Time{}
}

// revoke ends a subscription at once (Lifecycle, revocations).
func (p *Play) revoke(s *subscription, by string, at time.Time) {
	p.end(s, at)
	s.canceledBy, s.canceledAt = by, at
	p.notify(s, subscriptionRevoked, at)
}

// refuseUnacknowledged refunds and revokes a purchase that nobody acknowledged in time
// (Lifecycle, notes on acknowledgement; Voided, reason 8).
func (p *Play) refuseUnacknowledged(s *subscription, at time.Time) {
	if o := p.orders[s.current().order]; o != nil && o.state == "PROCESSED" {
		p.void(o, o.price, at, voidedByGoogle, unacknowledgedPurchase)
	}
	p.revoke(s, bySystem, at)
}

// renewFrom pays a period that begins at from. The second item of a deferred replacement
// takes over (Subscriptions, deferred replacement).
func (p *Play) renewFrom(s *subscription, from, at time.Time) {
	for _, item := range s.items {
		item.deferred = ""
	}
	it := s.current()
	p.applyPrice(s, from, at)
	it.expires, it.phase = it.plan.Period.after(from), basePhase
	if o := p.orders[s.unpaid]; o != nil {
		p.process(o, at)
		o.from, o.to, it.order = from, it.expires, o.id
	} else {
		it.order = p.charge(s, charge{at: at, from: from, price: it.plan.Price}).id
	}
	p.renewAddOns(s, from, at)
	s.renewals++
	s.state, s.unpaid, s.badCard, s.declined, s.held = active, "", false, time.Time{}, time.Time{}
}
