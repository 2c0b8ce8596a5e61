package countersign

import "encoding/json"

// IAPPurchase is a purchase in the app's store, as an addon prints it.
type IAPPurchase struct {
	ID string `json:"id"`
	// Platform is "store".
	Platform string `json:"platform"`
	// Environment is "production", "test" (a license tester's) or "simulated" (the built-in store's).
	Environment string `json:"environment"`
	ProductID   string `json:"product_id"`
	// OneTime reports a product that was bought once. It is left out for a subscription.
	OneTime    bool    `json:"one_time,omitempty"`
	BasePlanID string  `json:"base_plan_id"`
	OfferID    *string `json:"offer_id"`
	// Phase is "base", "free_trial", "introductory", "proration" or "".
	Phase string `json:"phase"`
	// Package is nil while the product is not mapped to one.
	Package *IAPPackage `json:"package"`
	// State is that of a membership, or "failed" or "superseded".
	State        string     `json:"state"`
	Acknowledged bool       `json:"acknowledged"`
	AutoRenewing bool       `json:"auto_renewing"`
	StartedAt    *Timestamp `json:"started_at"`
	ExpiresAt    *Timestamp `json:"expires_at"`
	AutoResumeAt *Timestamp `json:"auto_resume_at"`
	// Price is the list price of a renewal, nil when the store sends none.
	Price   *IAPPrice `json:"price"`
	OrderID string    `json:"order_id"`
	// Replaces is the id of the purchase of which this one took the place.
	Replaces *string `json:"replaces"`
	// Items is all that was bought with it, in the store's order: a subscription with add-ons has several. ProductID, Package,
	// AutoRenewing and others above are of the one that it is shown as.
	Items []IAPPurchaseItem `json:"items"`
}

// IAPPurchaseItem is a product of a purchase.
type IAPPurchaseItem struct {
	ProductID  string `json:"product_id"`
	BasePlanID string `json:"base_plan_id"`
	// Package is nil while the product is not mapped to one.
	Package *IAPPackage `json:"package"`
	// ExpiresAt is nil while nothing was paid for it.
	ExpiresAt    *Timestamp `json:"expires_at"`
	AutoRenewing bool       `json:"auto_renewing"`
}

// IAPPurchases is a page of purchases, the newest first.
type IAPPurchases struct {
	Purchases []IAPPurchase `json:"purchases"`
	// Next is the cursor of the next page, nil on the last one.
	Next *string `json:"next_cursor"`
}

// IAPPrice is an amount in the buyer's currency, with as many decimals as the store sends and at least two.
type IAPPrice struct {
	Amount   json.Number `json:"amount"`
	Currency string      `json:"currency"`
}

// IAPMembership is what a user of a site has, derived from purchases and grants.
type IAPMembership struct {
	Active bool `json:"active"`
	// Status is "none", "pending", "active", "grace", "on_hold", "paused", "expired" or "revoked".
	Status  string      `json:"status"`
	Package *IAPPackage `json:"package"`
	// Source is "store" or "grant", and nil without a membership.
	Source *string    `json:"source"`
	Since  *Timestamp `json:"since"`
	// Until is the end of the paid time, nil for no end.
	Until     *Timestamp `json:"until"`
	WillRenew bool       `json:"will_renew"`
	Grace     bool       `json:"grace"`
	// ActionRequired is "fix_payment", "confirm_price" or "resume", and nil for nothing.
	ActionRequired *string `json:"action_required"`
	// ManageURL is the store's page of the subscription, nil for other sources.
	ManageURL *string `json:"manage_url"`
	// Version is raised by each change. A receiver stores the membership with the higher one.
	Version int64 `json:"version"`
	// Token is the membership signed for apps that are offline, "" when the site does not issue it.
	Token string `json:"token,omitempty"`
}

// IAPMembershipRead is a membership with the ETag by which it is read again only after a change.
type IAPMembershipRead struct {
	IAPMembership
	ETag string `json:"-"`
}

// IAPMerge is what an addon answers to a merge of two users of a site.
type IAPMerge struct {
	FromUserID string `json:"from_user_id"`
	ToUserID   string `json:"to_user_id"`
	// Purchases and Grants are how many were moved.
	Purchases int64 `json:"purchases"`
	Grants    int64 `json:"grants"`
	// Membership is that of the user who has everything now.
	Membership IAPMembership `json:"membership"`
}

// IAPErasure is what an addon answers to the erasure of a user of a site.
type IAPErasure struct {
	UserID string `json:"user_id"`
	// Purchases is how many no longer name the user, Grants how many were deleted.
	Purchases int64 `json:"purchases"`
	Grants    int64 `json:"grants"`
}
