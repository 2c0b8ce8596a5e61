package publisher

// BatchGetOrdersResponse is a list of orders.
type BatchGetOrdersResponse struct {
	Orders []*Order `json:"orders,omitempty"`
}

// Order is a payment.
type Order struct {
	CreateTime                      string        `json:"createTime,omitempty"`
	DeveloperRevenueInBuyerCurrency *Money        `json:"developerRevenueInBuyerCurrency,omitempty"`
	LastEventTime                   string        `json:"lastEventTime,omitempty"`
	LineItems                       []*LineItem   `json:"lineItems,omitempty"`
	OrderDetails                    *OrderDetails `json:"orderDetails,omitempty"`
	OrderHistory                    *OrderHistory `json:"orderHistory,omitempty"`
	OrderID                         string        `json:"orderId,omitempty"`
	PurchaseToken                   string        `json:"purchaseToken,omitempty"`
	SalesChannel                    string        `json:"salesChannel,omitempty"`
	State                           string        `json:"state,omitempty"`
	Tax                             *Money        `json:"tax,omitempty"`
	Total                           *Money        `json:"total,omitempty"`
}

// The parts of an order.
type (
	LineItem struct {
		ListingPrice           *Money                  `json:"listingPrice,omitempty"`
		OneTimePurchaseDetails *OneTimePurchaseDetails `json:"oneTimePurchaseDetails,omitempty"`
		ProductID              string                  `json:"productId,omitempty"`
		SubscriptionDetails    *SubscriptionDetails    `json:"subscriptionDetails,omitempty"`
		Tax                    *Money                  `json:"tax,omitempty"`
		Total                  *Money                  `json:"total,omitempty"`
	}
	OneTimePurchaseDetails struct {
		PurchaseOptionID string `json:"purchaseOptionId,omitempty"`
		Quantity         int64  `json:"quantity,omitempty"`
	}
	SubscriptionDetails struct {
		BasePlanID             string `json:"basePlanId,omitempty"`
		OfferID                string `json:"offerId,omitempty"`
		OfferPhase             string `json:"offerPhase,omitempty"`
		ServicePeriodEndTime   string `json:"servicePeriodEndTime,omitempty"`
		ServicePeriodStartTime string `json:"servicePeriodStartTime,omitempty"`
	}
	OrderDetails struct {
		TaxInclusive bool `json:"taxInclusive,omitempty"`
	}
	OrderHistory struct {
		PartialRefundEvents []*PartialRefundEvent `json:"partialRefundEvents,omitempty"`
		RefundEvent         *RefundEvent          `json:"refundEvent,omitempty"`
	}
	PartialRefundEvent struct {
		ProcessTime   string         `json:"processTime,omitempty"`
		RefundDetails *RefundDetails `json:"refundDetails,omitempty"`
		State         string         `json:"state,omitempty"`
	}
	RefundDetails struct {
		Total *Money `json:"total,omitempty"`
	}
	RefundEvent struct {
		EventTime    string `json:"eventTime,omitempty"`
		RefundReason string `json:"refundReason,omitempty"`
	}
)

// VoidedPurchasesListResponse is a page of the orders that were taken back.
type VoidedPurchasesListResponse struct {
	TokenPagination *TokenPagination  `json:"tokenPagination,omitempty"`
	VoidedPurchases []*VoidedPurchase `json:"voidedPurchases,omitempty"`
}

// TokenPagination names the next page.
type TokenPagination struct {
	NextPageToken string `json:"nextPageToken,omitempty"`
}

// VoidedPurchase is an order that was taken back. Its times are Unix times in milliseconds.
type VoidedPurchase struct {
	Kind               string `json:"kind,omitempty"`
	OrderID            string `json:"orderId,omitempty"`
	PurchaseTimeMillis int64  `json:"purchaseTimeMillis,omitempty,string"`
	PurchaseToken      string `json:"purchaseToken,omitempty"`
	VoidedReason       int64  `json:"voidedReason,omitempty"`
	VoidedSource       int64  `json:"voidedSource,omitempty"`
	VoidedTimeMillis   int64  `json:"voidedTimeMillis,omitempty,string"`
}
