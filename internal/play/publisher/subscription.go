// Package publisher has the JSON objects of the Google Play Developer API, version 3: those
// members that the client of this program and its simulation read or write. The structs have
// the names of Google's reference, and their members its order. Times are texts in RFC 3339.
package publisher

// Empty is an object whose presence is its meaning.
type Empty struct{}

// Money is an amount: units of a currency, and nanos, 10⁻⁹ of it.
type Money struct {
	CurrencyCode string `json:"currencyCode,omitempty"`
	Nanos        int64  `json:"nanos,omitempty"`
	Units        int64  `json:"units,omitempty,string"`
}

// SubscriptionPurchaseV2 is the state of a subscription.
type SubscriptionPurchaseV2 struct {
	AcknowledgementState       string                          `json:"acknowledgementState,omitempty"`
	CanceledStateContext       *CanceledStateContext           `json:"canceledStateContext,omitempty"`
	Etag                       string                          `json:"etag,omitempty"`
	ExternalAccountIdentifiers *ExternalAccountIdentifiers     `json:"externalAccountIdentifiers,omitempty"`
	InGracePeriodStateContext  *InGracePeriodStateContext      `json:"inGracePeriodStateContext,omitempty"`
	Kind                       string                          `json:"kind,omitempty"`
	LineItems                  []*SubscriptionPurchaseLineItem `json:"lineItems,omitempty"`
	LinkedPurchaseToken        string                          `json:"linkedPurchaseToken,omitempty"`
	OnHoldStateContext         *OnHoldStateContext             `json:"onHoldStateContext,omitempty"`
	OutOfAppPurchaseContext    *OutOfAppPurchaseContext        `json:"outOfAppPurchaseContext,omitempty"`
	PausedStateContext         *PausedStateContext             `json:"pausedStateContext,omitempty"`
	RegionCode                 string                          `json:"regionCode,omitempty"`
	StartTime                  string                          `json:"startTime,omitempty"`
	SubscriptionState          string                          `json:"subscriptionState,omitempty"`
	TestPurchase               *Empty                          `json:"testPurchase,omitempty"`
}

// The parts of a subscription that depend on its state, and whose it is.
type (
	CanceledStateContext struct {
		DeveloperInitiatedCancellation *Empty                     `json:"developerInitiatedCancellation,omitempty"`
		ReplacementCancellation        *Empty                     `json:"replacementCancellation,omitempty"`
		SystemInitiatedCancellation    *Empty                     `json:"systemInitiatedCancellation,omitempty"`
		UserInitiatedCancellation      *UserInitiatedCancellation `json:"userInitiatedCancellation,omitempty"`
	}
	UserInitiatedCancellation struct {
		CancelTime string `json:"cancelTime,omitempty"`
	}
	InGracePeriodStateContext struct {
		RenewalDeclined *RenewalDeclinedContext `json:"renewalDeclined,omitempty"`
	}
	OnHoldStateContext struct {
		RenewalDeclined *RenewalDeclinedContext `json:"renewalDeclined,omitempty"`
	}
	RenewalDeclinedContext struct {
		PendingOrderID string `json:"pendingOrderId,omitempty"`
	}
	PausedStateContext struct {
		AutoResumeTime string `json:"autoResumeTime,omitempty"`
	}
	ExternalAccountIdentifiers struct {
		ObfuscatedExternalAccountID string `json:"obfuscatedExternalAccountId,omitempty"`
		ObfuscatedExternalProfileID string `json:"obfuscatedExternalProfileId,omitempty"`
	}
	OutOfAppPurchaseContext struct {
		ExpiredExternalAccountIdentifiers *ExternalAccountIdentifiers `json:"expiredExternalAccountIdentifiers,omitempty"`
		ExpiredPurchaseToken              string                      `json:"expiredPurchaseToken,omitempty"`
	}
)

// SubscriptionPurchaseLineItem is a product of a subscription.
type SubscriptionPurchaseLineItem struct {
	AutoRenewingPlan        *AutoRenewingPlan        `json:"autoRenewingPlan,omitempty"`
	DeferredItemRemoval     *Empty                   `json:"deferredItemRemoval,omitempty"`
	DeferredItemReplacement *DeferredItemReplacement `json:"deferredItemReplacement,omitempty"`
	ExpiryTime              string                   `json:"expiryTime,omitempty"`
	LatestSuccessfulOrderID string                   `json:"latestSuccessfulOrderId,omitempty"`
	OfferDetails            *OfferDetails            `json:"offerDetails,omitempty"`
	OfferPhase              *OfferPhase              `json:"offerPhase,omitempty"`
	PrepaidPlan             *PrepaidPlan             `json:"prepaidPlan,omitempty"`
	ProductID               string                   `json:"productId,omitempty"`
}

// The parts of a product of a subscription.
type (
	AutoRenewingPlan struct {
		AutoRenewEnabled          bool                                `json:"autoRenewEnabled,omitempty"`
		InstallmentDetails        *InstallmentPlan                    `json:"installmentDetails,omitempty"`
		PriceChangeDetails        *SubscriptionItemPriceChangeDetails `json:"priceChangeDetails,omitempty"`
		PriceStepUpConsentDetails *PriceStepUpConsentDetails          `json:"priceStepUpConsentDetails,omitempty"`
		RecurringPrice            *Money                              `json:"recurringPrice,omitempty"`
	}
	PriceStepUpConsentDetails struct {
		State string `json:"state,omitempty"`
	}
	InstallmentPlan struct {
		InitialCommittedPaymentsCount   int64  `json:"initialCommittedPaymentsCount,omitempty"`
		PendingCancellation             *Empty `json:"pendingCancellation,omitempty"`
		RemainingCommittedPaymentsCount int64  `json:"remainingCommittedPaymentsCount,omitempty"`
	}
	SubscriptionItemPriceChangeDetails struct {
		ExpectedNewPriceChargeTime string `json:"expectedNewPriceChargeTime,omitempty"`
		NewPrice                   *Money `json:"newPrice,omitempty"`
		PriceChangeMode            string `json:"priceChangeMode,omitempty"`
		PriceChangeState           string `json:"priceChangeState,omitempty"`
	}
	PrepaidPlan struct {
		AllowExtendAfterTime string `json:"allowExtendAfterTime,omitempty"`
	}
	DeferredItemReplacement struct {
		ProductID string `json:"productId,omitempty"`
	}
	OfferDetails struct {
		BasePlanID string `json:"basePlanId,omitempty"`
		OfferID    string `json:"offerId,omitempty"`
	}
	OfferPhase struct {
		BasePrice         *Empty `json:"basePrice,omitempty"`
		FreeTrial         *Empty `json:"freeTrial,omitempty"`
		IntroductoryPrice *Empty `json:"introductoryPrice,omitempty"`
		ProrationPeriod   *Empty `json:"prorationPeriod,omitempty"`
	}
)
