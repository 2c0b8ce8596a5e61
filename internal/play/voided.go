package play

import (
	"context"
	"time"

	androidpublisher "google.golang.org/api/androidpublisher/v3"
)

// voidedPage is the number of entries on a page of the voided list, Google's highest.
const voidedPage = 1000

// Voided is an order that was refunded, charged back or otherwise taken back.
type Voided struct {
	OrderID string // renewals share the token, so this is what identifies it
	Token   string // secret
	// PurchasedAt is when the order was paid, VoidedAt when it was taken back.
	PurchasedAt, VoidedAt time.Time
	// Source is who took it back: 0 the user, 1 the developer, 2 Google.
	Source int64
	// Reason is Google's number: 0 other, 1 remorse, 2 not received, 3 defective, 4 accidental
	// purchase, 5 fraud, 6 friendly fraud, 7 chargeback, 8 not acknowledged.
	Reason int64
}

// Voided returns a page of what was taken back, and the token of the next page, "" after
// the last. The times are when Google learned of it, 30 days back at most; zero means no
// limit. On further pages Google ignores them.
func (c *Client) Voided(ctx context.Context, since, until time.Time, pageToken string) (list []Voided, next string, err error) {
	call := c.api.Purchases.Voidedpurchases.List(c.appPackage).Type(1).MaxResults(voidedPage)
	if pageToken != "" {
		call.Token(pageToken)
	}
	if !since.IsZero() {
		call.StartTime(since.UnixMilli())
	}
	if !until.IsZero() {
		call.EndTime(until.UnixMilli())
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	page, err := call.Context(ctx).Do()
	if err != nil {
		return nil, "", c.failure(ctx, aboutApp, err)
	}
	for _, v := range page.VoidedPurchases {
		list = append(list, voidedOf(v))
	}
	if page.TokenPagination != nil {
		next = page.TokenPagination.NextPageToken
	}
	return list, next, nil
}

func voidedOf(v *androidpublisher.VoidedPurchase) Voided {
	return Voided{
		OrderID: v.OrderId, Token: v.PurchaseToken, Source: v.VoidedSource, Reason: v.VoidedReason,
		PurchasedAt: time.UnixMilli(v.PurchaseTimeMillis).UTC(), VoidedAt: time.UnixMilli(v.VoidedTimeMillis).UTC(),
	}
}
