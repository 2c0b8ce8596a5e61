package publisher

// ListSubscriptionsResponse is a page of the catalogue.
type ListSubscriptionsResponse struct {
	NextPageToken string          `json:"nextPageToken,omitempty"`
	Subscriptions []*Subscription `json:"subscriptions,omitempty"`
}

// Subscription is a product of the catalogue.
type Subscription struct {
	BasePlans   []*BasePlan            `json:"basePlans,omitempty"`
	Listings    []*SubscriptionListing `json:"listings,omitempty"`
	PackageName string                 `json:"packageName,omitempty"`
	ProductID   string                 `json:"productId,omitempty"`
}

// The parts of a product. Periods are in ISO 8601.
type (
	SubscriptionListing struct {
		LanguageCode string `json:"languageCode,omitempty"`
		Title        string `json:"title,omitempty"`
	}
	BasePlan struct {
		AutoRenewingBasePlanType *AutoRenewingBasePlanType `json:"autoRenewingBasePlanType,omitempty"`
		BasePlanID               string                    `json:"basePlanId,omitempty"`
		InstallmentsBasePlanType *InstallmentsBasePlanType `json:"installmentsBasePlanType,omitempty"`
		PrepaidBasePlanType      *PrepaidBasePlanType      `json:"prepaidBasePlanType,omitempty"`
		State                    string                    `json:"state,omitempty"`
	}
	AutoRenewingBasePlanType struct {
		BillingPeriodDuration string `json:"billingPeriodDuration,omitempty"`
		GracePeriodDuration   string `json:"gracePeriodDuration,omitempty"`
	}
	InstallmentsBasePlanType struct {
		BillingPeriodDuration  string `json:"billingPeriodDuration,omitempty"`
		CommittedPaymentsCount int64  `json:"committedPaymentsCount,omitempty"`
		GracePeriodDuration    string `json:"gracePeriodDuration,omitempty"`
	}
	PrepaidBasePlanType struct {
		BillingPeriodDuration string `json:"billingPeriodDuration,omitempty"`
		TimeExtension         string `json:"timeExtension,omitempty"`
	}
)
