package play

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/countersign/countersign/internal/play/publisher"
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
	query := url.Values{"type": {"1"}, "maxResults": {strconv.Itoa(voidedPage)}}
	if pageToken != "" {
		query.Set("token", pageToken)
	}
	if !since.IsZero() {
		query.Set("startTime", strconv.FormatInt(since.UnixMilli(), 10))
	}
	if !until.IsZero() {
		query.Set("endTime", strconv.FormatInt(until.UnixMilli(), 10))
	}
	var page publisher.VoidedPurchasesListResponse
	err = c.call(ctx, request{method: http.MethodGet, path: "purchases/voidedpurchases", query: query, about: aboutApp}, &page)
	if err != nil {
		return nil, "", err
	}
	for _, v := range page.VoidedPurchases {
		list = append(list, voidedOf(v))
	}
	if page.TokenPagination != nil {
		next = page.TokenPagination.NextPageToken
	}
	return list, next, nil
}

func voidedOf(v *publisher.VoidedPurchase) Voided {
	return Voided{
		OrderID: v.OrderID, Token: v.PurchaseToken, Source: v.VoidedSource, Reason: v.VoidedReason,
		PurchasedAt: time.UnixMilli(v.PurchaseTimeMillis).UTC(), VoidedAt: time.UnixMilli(v.VoidedTimeMillis).UTC(),
	}
}
