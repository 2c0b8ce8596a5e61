package countersign

// IAPIntent is what an app has to know before it begins a purchase.
type IAPIntent struct {
	// AccountID is what the app sets as the obfuscated account id of the purchase.
	AccountID string `json:"obfuscated_account_id"`
	// Current is the user's subscription in the store, nil for none. A purchase of another
	// product replaces it.
	Current    *IAPPurchase  `json:"current_purchase"`
	Membership IAPMembership `json:"membership"`
	// Warnings are "already_subscribed" and "owned_by_other_user": the store account on the
	// device pays for another user already.
	Warnings []string `json:"warnings"`
}

// IAPSimulatedPurchase is a purchase that an app made in the simulated store of test mode.
type IAPSimulatedPurchase struct {
	// PurchaseToken is for [AppClient.VerifyPurchase] and [AppClient.RestorePurchases].
	PurchaseToken string `json:"purchase_token"`
	ProductID     string `json:"product_id"`
	// AccountID is the obfuscated account id that the purchase has.
	AccountID string `json:"obfuscated_account_id"`
}

// IAPVerification is what became of a purchase token.
type IAPVerification struct {
	// Result is "created", "unchanged" or "updated", and "queued" while the store does not answer.
	Result string `json:"result"`
	// Purchase is nil while the store does not answer.
	Purchase   *IAPPurchase  `json:"purchase"`
	Membership IAPMembership `json:"membership"`
}

// Pending reports that the purchase activates nothing yet: its payment is pending, or the store does not answer. The addon
// goes on by itself, and the app reads the membership later.
func (v IAPVerification) Pending() bool { return v.Purchase == nil || v.Purchase.State == "pending" }

// IAPRestore is what became of the purchase tokens that were found on a device.
type IAPRestore struct {
	Results    []IAPRestored `json:"results"`
	Membership IAPMembership `json:"membership"`
}

// IAPRestored is what became of one of them: Result or Error is set.
type IAPRestored struct {
	// TokenSHA256 is the SHA-256 of the token in hex.
	TokenSHA256 string           `json:"purchase_token_sha256"`
	Result      string           `json:"result,omitempty"`
	Error       *IAPRestoreError `json:"error,omitempty"`
}

// IAPRestoreError is why a token was not restored, with the codes of a verification.
type IAPRestoreError struct {
	Code      string `json:"code"`
	Message   string `json:"msg"`
	Retryable bool   `json:"retryable"`
}

// IAPGrant is a membership that the site granted by hand.
type IAPGrant struct {
	ID        int64     `json:"id"`
	UserID    string    `json:"user_id"`
	PackageID int64     `json:"package_id"`
	Reason    string    `json:"reason"`
	GrantedBy string    `json:"granted_by"`
	CreatedAt Timestamp `json:"created_at"`
	// Until is the end of the grant, nil for no end.
	Until *Timestamp `json:"until"`
	// EndedAt is when it was ended early, nil when it was not.
	EndedAt *Timestamp `json:"ended_at"`
	EndedBy *string    `json:"ended_by"`
}
