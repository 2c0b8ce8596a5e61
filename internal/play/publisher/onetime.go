package publisher

// ProductPurchaseV2 is the state of a purchase of a one-time product.
type ProductPurchaseV2 struct {
	AcknowledgementState        string                `json:"acknowledgementState,omitempty"`
	Kind                        string                `json:"kind,omitempty"`
	ObfuscatedExternalAccountID string                `json:"obfuscatedExternalAccountId,omitempty"`
	ObfuscatedExternalProfileID string                `json:"obfuscatedExternalProfileId,omitempty"`
	OrderID                     string                `json:"orderId,omitempty"`
	ProductLineItem             []*ProductLineItem    `json:"productLineItem,omitempty"`
	PurchaseCompletionTime      string                `json:"purchaseCompletionTime,omitempty"`
	PurchaseStateContext        *PurchaseStateContext `json:"purchaseStateContext,omitempty"`
	RegionCode                  string                `json:"regionCode,omitempty"`
	TestPurchaseContext         *TestPurchaseContext  `json:"testPurchaseContext,omitempty"`
}

// The parts of a purchase of a one-time product.
type (
	PurchaseStateContext struct {
		PurchaseState string `json:"purchaseState,omitempty"`
	}
	TestPurchaseContext struct {
		FopType string `json:"fopType,omitempty"`
	}
	ProductLineItem struct {
		ProductID           string               `json:"productId,omitempty"`
		ProductOfferDetails *ProductOfferDetails `json:"productOfferDetails,omitempty"`
	}
	ProductOfferDetails struct {
		ConsumptionState   string `json:"consumptionState,omitempty"`
		OfferID            string `json:"offerId,omitempty"`
		PurchaseOptionID   string `json:"purchaseOptionId,omitempty"`
		Quantity           int64  `json:"quantity,omitempty"`
		RefundableQuantity int64  `json:"refundableQuantity,omitempty"`
	}
)

// ListOneTimeProductsResponse is a page of the one-time products of the catalogue.
type ListOneTimeProductsResponse struct {
	NextPageToken   string            `json:"nextPageToken,omitempty"`
	OneTimeProducts []*OneTimeProduct `json:"oneTimeProducts,omitempty"`
}

// OneTimeProduct is a one-time product of the catalogue.
type OneTimeProduct struct {
	Listings        []*OneTimeProductListing        `json:"listings,omitempty"`
	PackageName     string                          `json:"packageName,omitempty"`
	ProductID       string                          `json:"productId,omitempty"`
	PurchaseOptions []*OneTimeProductPurchaseOption `json:"purchaseOptions,omitempty"`
}

// The parts of a one-time product.
type (
	OneTimeProductListing struct {
		LanguageCode string `json:"languageCode,omitempty"`
		Title        string `json:"title,omitempty"`
	}
	OneTimeProductPurchaseOption struct {
		BuyOption        *Empty `json:"buyOption,omitempty"`
		PurchaseOptionID string `json:"purchaseOptionId,omitempty"`
		State            string `json:"state,omitempty"`
	}
)
