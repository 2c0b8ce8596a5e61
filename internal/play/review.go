package play

import (
	"context"
	"net/http"

	"github.com/countersign/countersign/internal/play/publisher"
)

// RefundPreference is what the developer would like Google to decide about a chargeback.
type RefundPreference string

// The preferences.
const (
	ApproveRefund RefundPreference = "APPROVE"
	DeclineRefund RefundPreference = "DECLINE"
	NoPreference  RefundPreference = "NEUTRAL"
)

// ReviewRefund answers the question of a notification of the kind [OfRefundReview], whose
// [Notification.ReviewToken] it needs. Google takes the first answer, within 24 hours. sample
// reports whether a free sample or trial was offered before the purchase.
func (c *Client) ReviewRefund(ctx context.Context, orderID, token string, preference RefundPreference, sample bool) error {
	return c.call(ctx, request{
		method: http.MethodPost, path: "orders/" + escape(orderID) + ":reviewrefund", about: aboutApp, secrets: []string{token},
		body: &publisher.OrdersReviewRefundRequest{PendingRefundToken: token, RefundPreference: string(preference), SampleContentProvided: sample},
	}, nil)
}
