package play

import (
	"context"

	androidpublisher "google.golang.org/api/androidpublisher/v3"
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
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	err := c.api.Orders.Reviewrefund(c.appPackage, orderID, &androidpublisher.OrdersReviewRefundRequest{
		PendingRefundToken: token, RefundPreference: string(preference), SampleContentProvided: sample, ForceSendFields: []string{"SampleContentProvided"},
	}).Context(ctx).Do()
	if err != nil {
		return c.failure(ctx, aboutApp, err, token)
	}
	return nil
}
