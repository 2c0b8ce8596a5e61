package playfake

import (
	"fmt"
	"slices"
	"time"
)

// States of purchases, as Google names them.
const (
	statePending         = "SUBSCRIPTION_STATE_PENDING"
	stateActive          = "SUBSCRIPTION_STATE_ACTIVE"
	stateCanceled        = "SUBSCRIPTION_STATE_CANCELED"
	stateGrace           = "SUBSCRIPTION_STATE_IN_GRACE_PERIOD"
	stateHold            = "SUBSCRIPTION_STATE_ON_HOLD"
	statePaused          = "SUBSCRIPTION_STATE_PAUSED"
	stateExpired         = "SUBSCRIPTION_STATE_EXPIRED"
	statePendingCanceled = "SUBSCRIPTION_STATE_PENDING_PURCHASE_CANCELED"
)

// States of purchases of products that are bought once.
const (
	stateOncePending = "PENDING"
	statePurchased   = "PURCHASED"
	stateCancelled   = "CANCELLED"
)

// purchase is a subscription, or a product that is bought once. It was bought, or tried to be.
type purchase struct {
	Token, Linked string
	State         string
	Revision      int64
	Items         []item

	Account, Profile, Region string
	Test                     bool
	OutOfApp                 *outOfApp

	CreatedAt, StartedAt time.Time
	// PaidUntil is the end of the time that was paid. Items can end later, in a grace period.
	PaidUntil    time.Time
	Acknowledged bool
	// AckBy is when the purchase is refunded unless it is acknowledged.
	AckBy time.Time
	// PendingUntil is when a pending purchase is given up.
	PendingUntil time.Time

	CanceledBy string // "user", "system", "developer" or "replacement"
	CanceledAt time.Time

	Declined     bool // the card is declined
	RetryUntil   time.Time
	GraceUntil   time.Time
	HoldUntil    time.Time
	PendingOrder string

	// PauseUntil is set while a pause is scheduled or runs; a pause begins with the next period.
	Pause    time.Duration
	ResumeAt time.Time

	// EndedAt is when it expired or was revoked, which is later than the end of its items when
	// no payment came.
	EndedAt time.Time
	// RetireAt is when a replaced purchase ends.
	RetireAt time.Time
	// Unnoticed reports that it looks until then as if it were not replaced.
	Unnoticed bool
	// Renewals is how often it was renewed, Reads how often it was read.
	Renewals, Reads int
	OrderBase       string
}

// item is a line of a purchase.
type item struct {
	ProductID, PlanID, OfferID string
	ExpiresAt                  time.Time
	OrderID                    string
	Price                      Money
	Prepaid                    bool
	// Phase counts the phases of the offer that are over, Cycle the cycles of the current one.
	Phase, Cycle    int
	Proration       bool // until the first renewal after a replacement
	Change          *priceChange
	Deferred        string // the product that replaces it
	DeferredRemoval bool
	// Payments is how many payments of a plan of installments are committed, Left how many are left.
	Payments, Left int64
	Ending         bool // the plan ends after the committed payments
	// OneTime reports a product that is bought once, Quantity how many of it, and Refundable how many were not refunded.
	OneTime              bool
	Quantity, Refundable int64
	Consumed             bool
}

// declined reports that the user does not want another period: the committed payments are
// made, or the user has not agreed to a higher price.
func (i *item) declined() bool {
	return i.Ending && i.Left <= 0 || i.Change != nil && i.Change.State == "OUTSTANDING" && i.Change.Waits == 0
}

// outOfApp is what Google says of a subscription that was bought again in its own pages.
type outOfApp struct {
	Token, Account, Profile string
}

// priceChange is a new price. Waits counts the renewals that are still at the old one.
type priceChange struct {
	Mode  string // as Google names it
	State string
	Price Money
	At    time.Time // of the first renewal at the new price
	Waits int
}

// live reports whether the purchase was paid and has not ended.
func (p *purchase) live() bool {
	return slices.Contains([]string{stateActive, stateCanceled, stateGrace, stateHold, statePaused, statePurchased}, p.State)
}

// once reports whether the purchase is of a product that is bought once.
func (p *purchase) once() bool { return p.Items[0].OneTime }

// renews reports whether Google will charge again.
func (p *purchase) renews() bool {
	return p.RetireAt.IsZero() && p.mayRenew()
}

// mayRenew is renews without regard to a replacement.
func (p *purchase) mayRenew() bool {
	return slices.Contains([]string{stateActive, stateGrace, stateHold, statePaused}, p.State) && !p.Items[0].Prepaid
}

// restorable reports whether the user can undo a cancellation.
func (p *purchase) restorable() bool {
	return p.State == stateActive && p.Items[0].Ending || p.State == stateCanceled && p.CanceledBy != "developer"
}

// expiresAt is the end of the first item.
func (p *purchase) expiresAt() time.Time { return p.Items[0].ExpiresAt }

// setExpiry sets the end of all items that the buyer has.
func (p *purchase) setExpiry(t time.Time) {
	for i := range p.Items {
		if p.Items[i].OrderID != "" {
			p.Items[i].ExpiresAt = t
		}
	}
}

// in returns an error unless the purchase is in one of some states.
func (p *purchase) in(states ...string) error {
	if !slices.Contains(states, p.State) {
		return fmt.Errorf("not possible in the state %s", p.State)
	}
	return nil
}

// order is a payment.
type order struct {
	ID, Token  string
	State      string // as Google names it
	CreatedAt  time.Time
	Total      Money
	Lines      []orderLine
	RefundedAt time.Time
	Chargeback bool
}

// orderLine is a product of an order.
type orderLine struct {
	ProductID, PlanID, OfferID string
	Phase                      string // as Google names it
	Price                      Money
	From, To                   time.Time
	Quantity                   int64 // of a product that is bought once
}

// order returns the order with an id, nil for none.
func (s *Store) order(id string) *order {
	for _, o := range s.state.Orders[len(s.orders):] {
		s.orders[o.ID] = o
	}
	return s.orders[id]
}

// void is an order that was taken back.
type void struct {
	OrderID, Token        string
	PurchasedAt, VoidedAt time.Time
	Reason, Source        int64
}
