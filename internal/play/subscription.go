// Package play asks the Google Play Developer API about subscriptions and one-time products, and acts on them. It
// knows nothing of users or memberships. What Google answers becomes the types of this package,
// so that nothing above it depends on Google's.
package play

import "time"

// State is the state of a subscription, Google's name without its SUBSCRIPTION_STATE_, or of a purchase of a one-time
// product. Any other value than the constants is a state that Google has added since.
type State string

// The states of subscriptions.
const (
	Pending                 State = "PENDING"
	Active                  State = "ACTIVE"
	Canceled                State = "CANCELED"
	InGracePeriod           State = "IN_GRACE_PERIOD"
	OnHold                  State = "ON_HOLD"
	Paused                  State = "PAUSED"
	Expired                 State = "EXPIRED"
	PendingPurchaseCanceled State = "PENDING_PURCHASE_CANCELED"
)

// The states of purchases of one-time products, which can be PENDING too.
const (
	Purchased State = "PURCHASED"
	// Cancelled is a purchase that was refunded with its access, or that was never paid.
	Cancelled State = "CANCELLED"
)

// Subscription is what Google says of a purchase token. Times that Google leaves out are zero.
type Subscription struct {
	// OneTime is true for the purchase of a one-time product, which has no renewals.
	OneTime      bool
	State        State
	Items        []Item    // one for each product, in Google's order
	StartedAt    time.Time // when it was paid, zero while it is pending
	Acknowledged bool
	// LinkedToken is the token of the purchase that this one replaces, "" for none.
	LinkedToken string
	// Account and Profile are the obfuscated ids that the app set at the purchase, "" for none.
	Account, Profile string
	// OutOfApp is set for a subscription bought again in Google's subscription centre, until it
	// is acknowledged; nil otherwise.
	OutOfApp *OutOfApp
	// Test is true for purchases of license testers.
	Test         bool
	Region       string // ISO 3166-1, two letters
	AutoResumeAt time.Time
	// CanceledBy is "user", "system", "developer", "replacement", or "" when not cancelled.
	CanceledBy string
	CanceledAt time.Time // zero unless the user cancelled
	// PendingOrder is the order whose payment was declined, "" outside of grace and hold.
	PendingOrder string
	ETag         string
}

// Item is a product of a subscription, or a one-time product.
type Item struct {
	ProductID  string
	BasePlanID string // of a one-time product, its purchase option
	OfferID    string // "" for the base price
	// Phase is "base", "free_trial", "introductory", "proration", or "".
	Phase     string
	ExpiresAt time.Time
	// OrderID is the last order that was paid, "" before the first.
	OrderID string
	// Prepaid plans are never renewed by Google; AutoRenews is false for them.
	Prepaid    bool
	AutoRenews bool
	// Price is the list price of a renewal, without discounts; nil when Google sends none.
	Price *Money
	// PriceChange is set while a change of the price is waiting; nil otherwise.
	PriceChange *PriceChange
	// StepUp is the state of the user's consent to the higher price that follows an offer, which some countries ask for:
	// "pending", "confirmed" or "completed"; "" for none.
	StepUp string
	// Deferred is the product that replaces this one at its end, "" for none; with
	// DeferredRemoval the item ends without one.
	Deferred        string
	DeferredRemoval bool
	// Installments is set for plans that are paid in a fixed number of payments; nil otherwise.
	Installments *Installments
	// Quantity is how many of a one-time product were bought and not refunded, else 0. Consumed reports that it can be
	// bought again.
	Quantity int64
	Consumed bool
}

// OutOfApp is what is known of the subscription that was bought again outside of the app.
// Google forgets it once the new purchase is acknowledged.
type OutOfApp struct {
	ExpiredToken     string
	Account, Profile string
}

// Money is an amount as Google writes it: Units of the currency and Nanos, 10⁻⁹ of it.
type Money struct {
	Currency string // ISO 4217
	Units    int64
	Nanos    int64
}

// PriceChange is a new price that is waiting for the user, or for its date.
type PriceChange struct {
	// State is "outstanding", "confirmed", "applied" or "canceled". Consent is needed while an
	// opt-in increase is outstanding.
	State         string
	Price         *Money
	NeedsConsent  bool
	ExpectedAfter time.Time
}

// Installments is how many payments a plan has, and how many are left. Ending is true when
// the user cancelled: the plan ends after the last of them.
type Installments struct {
	Initial, Remaining int64
	Ending             bool
}
