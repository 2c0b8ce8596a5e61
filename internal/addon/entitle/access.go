// Package entitle holds the rules of memberships without a database or a network: which
// access the state of a subscription means, to whom a purchase belongs, which of several
// sources a membership comes from, and which events a change of it causes. The sections in
// comments are those of the notes on Google Play.
package entitle

import (
	"slices"
	"time"

	"github.com/countersign/countersign/internal/play"
)

// Status is the state of a purchase or of a membership.
type Status string

// The statuses. A membership has neither of the last two.
const (
	None    Status = "none"
	Pending Status = "pending" // the payment is pending
	Active  Status = "active"
	Grace   Status = "grace" // a payment was declined; access continues
	OnHold  Status = "on_hold"
	Paused  Status = "paused"
	Expired Status = "expired"
	Revoked Status = "revoked" // refunded, charged back or revoked: access ended before the paid time did
	// Failed is a purchase whose payment never arrived.
	Failed Status = "failed"
	// Superseded is a purchase that a later one of its chain has replaced.
	Superseded Status = "superseded"
)

// access is what a state of a subscription means (1.2).
type access struct {
	status Status
	grants bool
	// paidTime limits the access to the time that is paid.
	paidTime bool
}

// accessByState is the table of 1.2. A state that is missing keeps the last decision.
var accessByState = map[play.State]access{
	play.Pending:                 {status: Pending},
	play.Active:                  {status: Active, grants: true},
	play.Canceled:                {status: Active, grants: true, paidTime: true},
	play.InGracePeriod:           {status: Grace, grants: true},
	play.OnHold:                  {status: OnHold},
	play.Paused:                  {status: Paused},
	play.Expired:                 {status: Expired},
	play.PendingPurchaseCanceled: {status: Failed},
	play.Purchased:               {status: Active, grants: true, paidTime: true},
	play.Cancelled:               {status: Failed},
}

// Decision is what a purchase is worth at a time.
type Decision struct {
	Status Status
	// Access reports whether its items count.
	Access bool
	// Until is the end of the paid time, zero while nothing was paid.
	Until time.Time
	// Unknown reports that the store's state is new to this version, so that the last
	// decision was kept.
	Unknown bool
}

// IsKnown reports whether this version knows a state of the store.
func IsKnown(state play.State) bool {
	_, known := accessByState[state]
	return known
}

// Decide returns what an answer of the store means (1.2, 1.9). last is the decision before it, zero for none. voided
// reports whether an order was refunded or charged back: the void of the current period's order ends access, one of
// an earlier period does not.
func Decide(s play.Subscription, last Decision, voided func(order string) bool, now time.Time) Decision {
	rule, known := accessByState[s.State]
	if !known {
		return keep(last, now)
	}
	d := Decision{Status: rule.status, Access: rule.grants, Until: End(s)}
	if rule.paidTime && !now.Before(d.Until) && !Lifelong(s) {
		d.Status, d.Access = Expired, false
	}
	if s.State == play.Cancelled && !s.StartedAt.IsZero() { // it was paid
		d.Status = Revoked
	}
	if (d.Access || d.Status == Expired) && (currentVoided(s, voided) || d.Status == Expired && endedEarly(s, last, now)) {
		d.Status, d.Access = Revoked, false
	}
	return d
}

// keep is the decision for a state that this version does not know: the last one, until the paid time has passed.
func keep(last Decision, now time.Time) Decision {
	last.Unknown = true
	switch {
	case last.Status == "":
		last.Status = Pending
	case last.Access && !last.Until.IsZero() && !now.Before(last.Until):
		last.Status, last.Access = Expired, false
	}
	return last
}

// currentVoided reports whether the current order of every paid item is void.
func currentVoided(s play.Subscription, voided func(order string) bool) bool {
	paid := 0
	for _, item := range s.Items {
		if item.OrderID == "" {
			continue
		}
		if !voided(item.OrderID) {
			return false
		}
		paid++
	}
	return paid > 0
}

// endedEarly reports whether the store ended a subscription before its paid time did, which only a revocation does. It
// stays revoked in later answers.
func endedEarly(s play.Subscription, last Decision, now time.Time) bool {
	if s.OneTime || s.CanceledBy == "replacement" {
		return false
	}
	return last.Status == Revoked || last.Status == Active && last.Access && now.Before(last.Until)
}

// Lifelong reports whether the access of a purchase of one-time products has no end.
func Lifelong(s play.Subscription) bool {
	return s.OneTime && slices.ContainsFunc(s.Items, func(i play.Item) bool { return i.ExpiresAt.IsZero() })
}

// End returns the latest expiry of a purchase's items, zero for none.
func End(s play.Subscription) time.Time {
	var end time.Time
	if Lifelong(s) {
		return end
	}
	for _, item := range s.Items {
		if item.ExpiresAt.After(end) {
			end = item.ExpiresAt
		}
	}
	return end
}

// ItemCounts reports whether an item of a purchase with access has been paid: it has not expired, or it is the one
// that lasts longest, whose end the store may be moving while it retries a payment. The item that a deferred
// replacement will add has no expiry yet. A one-time product without one is for ever.
func ItemCounts(s play.Subscription, item play.Item, end, now time.Time) bool {
	if item.ExpiresAt.IsZero() {
		return s.OneTime
	}
	return item.ExpiresAt.After(now) || item.ExpiresAt.Equal(end)
}

// WillRenew reports whether the store will charge for another period of an item.
func WillRenew(state play.State, item play.Item) bool {
	switch state {
	case play.Active, play.InGracePeriod, play.OnHold, play.Paused:
		return item.AutoRenews
	}
	return false
}

// Action is what the user has to do for a membership to continue, "" for nothing.
type Action string

// The actions.
const (
	FixPayment   Action = "fix_payment"
	ConfirmPrice Action = "confirm_price"
	Resume       Action = "resume"
)

// ActionFor returns what the user has to do about an item.
func ActionFor(status Status, item play.Item) Action {
	switch {
	case status == Grace || status == OnHold:
		return FixPayment
	case status == Paused:
		return Resume
	case status == Active && consentWaits(item):
		return ConfirmPrice
	}
	return ""
}

// consentWaits reports whether the user has to agree to a price before the next payment: an increase, or the step after
// an offer.
func consentWaits(item play.Item) bool {
	c := item.PriceChange
	return c != nil && c.NeedsConsent && c.State == "outstanding" || item.StepUp == "pending"
}
