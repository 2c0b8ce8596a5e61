package publisher

// SubscriptionPurchasesAcknowledgeRequest accepts a purchase.
type SubscriptionPurchasesAcknowledgeRequest struct {
	ExternalAccountIDs *ExternalAccountIDs `json:"externalAccountIds,omitempty"`
}

// ExternalAccountIDs says whose a purchase is.
type ExternalAccountIDs struct {
	ObfuscatedAccountID string `json:"obfuscatedAccountId,omitempty"`
	ObfuscatedProfileID string `json:"obfuscatedProfileId,omitempty"`
}

// CancelSubscriptionPurchaseRequest cancels a subscription.
type CancelSubscriptionPurchaseRequest struct {
	CancellationContext *CancellationContext `json:"cancellationContext,omitempty"`
}

// CancellationContext says how a subscription is cancelled.
type CancellationContext struct {
	CancellationType string `json:"cancellationType,omitempty"`
}

// RevokeSubscriptionPurchaseRequest ends a subscription at once.
type RevokeSubscriptionPurchaseRequest struct {
	RevocationContext *RevocationContext `json:"revocationContext,omitempty"`
}

// RevocationContext says which refund a revocation pays. The simulation reads ItemBasedRefund
// as a refund in full.
type RevocationContext struct {
	FullRefund      *Empty `json:"fullRefund,omitempty"`
	ItemBasedRefund *Empty `json:"itemBasedRefund,omitempty"`
	ProratedRefund  *Empty `json:"proratedRefund,omitempty"`
}

// DeferSubscriptionPurchaseRequest moves the next renewal of a subscription.
type DeferSubscriptionPurchaseRequest struct {
	DeferralContext *DeferralContext `json:"deferralContext,omitempty"`
}

// DeferralContext says by how many seconds a renewal moves, for example 86400s.
type DeferralContext struct {
	DeferDuration string `json:"deferDuration,omitempty"`
	Etag          string `json:"etag,omitempty"`
}

// DeferSubscriptionPurchaseResponse has the new end of each product.
type DeferSubscriptionPurchaseResponse struct {
	ItemExpiryTimeDetails []*ItemExpiryTimeDetails `json:"itemExpiryTimeDetails,omitempty"`
}

// ItemExpiryTimeDetails is the new end of a product.
type ItemExpiryTimeDetails struct {
	ExpiryTime string `json:"expiryTime,omitempty"`
	ProductID  string `json:"productId,omitempty"`
}

// OrdersReviewRefundRequest answers a question about a chargeback. Google requires
// SampleContentProvided also when it is false.
type OrdersReviewRefundRequest struct {
	PendingRefundToken    string `json:"pendingRefundToken,omitempty"`
	RefundPreference      string `json:"refundPreference,omitempty"`
	SampleContentProvided bool   `json:"sampleContentProvided"`
}
