package play

import (
	"context"
	"errors"
	"fmt"
	"time"

	androidpublisher "google.golang.org/api/androidpublisher/v3"
)

// CancelKind is what a cancellation stops.
type CancelKind string

// The kinds of cancellations.
const (
	// StopRenewals is a cancellation that the user asked for. The user can restore it.
	StopRenewals CancelKind = "stop_renewals"
	// StopPayments is final. For instalments it also ends the payments that are left.
	StopPayments CancelKind = "stop_payments"
)

// Refund is what the user gets back when a subscription is revoked.
type Refund string

// The refunds of a revoked subscription.
const (
	FullRefund     Refund = "full"
	ProratedRefund Refund = "prorated" // for the time that is left
)

// Acknowledge tells Google that the purchase was accepted; without it, Google refunds a
// purchase after three days. It can be repeated. The account and the profile are sent when
// one of them is set: only a subscription that was bought again outside of the app takes them.
func (c *Client) Acknowledge(ctx context.Context, productID, token, account, profile string) error {
	if err := checkToken(token); err != nil {
		return err
	}
	request := &androidpublisher.SubscriptionPurchasesAcknowledgeRequest{}
	if account != "" || profile != "" {
		request.ExternalAccountIds = &androidpublisher.ExternalAccountIds{ObfuscatedAccountId: account, ObfuscatedProfileId: profile}
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	err := c.api.Purchases.Subscriptions.Acknowledge(c.appPackage, productID, token, request).Context(ctx).Do()
	return c.acted(ctx, err, token, account, profile)
}

// Cancel stops the renewals of a subscription, or its payments. Access remains until the
// end of the time that was paid.
func (c *Client) Cancel(ctx context.Context, token string, kind CancelKind) error {
	if err := checkToken(token); err != nil {
		return err
	}
	types := map[CancelKind]string{StopRenewals: "USER_REQUESTED_STOP_RENEWALS", StopPayments: "DEVELOPER_REQUESTED_STOP_PAYMENTS"}
	if types[kind] == "" {
		return &Error{Reason: Refused, Cause: fmt.Errorf("unknown cancellation %q", kind)}
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := c.api.Purchases.Subscriptionsv2.Cancel(c.appPackage, token, &androidpublisher.CancelSubscriptionPurchaseRequest{
		CancellationContext: &androidpublisher.CancellationContext{CancellationType: types[kind]},
	}).Context(ctx).Do()
	return c.acted(ctx, err, token)
}

// Revoke ends a subscription at once, with a refund.
func (c *Client) Revoke(ctx context.Context, token string, refund Refund) error {
	if err := checkToken(token); err != nil {
		return err
	}
	how := &androidpublisher.RevocationContext{}
	switch refund {
	case FullRefund:
		how.FullRefund = &androidpublisher.RevocationContextFullRefund{}
	case ProratedRefund:
		how.ProratedRefund = &androidpublisher.RevocationContextProratedRefund{}
	default:
		return &Error{Reason: Refused, Cause: fmt.Errorf("unknown refund %q", refund)}
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := c.api.Purchases.Subscriptionsv2.Revoke(c.appPackage, token,
		&androidpublisher.RevokeSubscriptionPurchaseRequest{RevocationContext: how}).Context(ctx).Do()
	return c.acted(ctx, err, token)
}

// Defer moves the next renewal of a subscription by a time, rounded to seconds. The etag is
// that of the subscription as it was read; Google refuses one that is outdated. It returns
// the new end of the first item.
func (c *Client) Defer(ctx context.Context, token, etag string, by time.Duration) (time.Time, error) {
	if err := checkToken(token); err != nil {
		return time.Time{}, err
	}
	if by < 24*time.Hour || by > 365*24*time.Hour {
		return time.Time{}, &Error{Reason: Refused, Cause: errors.New("a renewal can move by one day to one year")}
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	moved, err := c.api.Purchases.Subscriptionsv2.Defer(c.appPackage, token, &androidpublisher.DeferSubscriptionPurchaseRequest{
		DeferralContext: &androidpublisher.DeferralContext{Etag: etag, DeferDuration: fmt.Sprintf("%ds", int64(by/time.Second))},
	}).Context(ctx).Do()
	if err != nil {
		return time.Time{}, c.acted(ctx, err, token, etag)
	}
	times := timeReader{err: nil}
	until := time.Time{}
	if len(moved.ItemExpiryTimeDetails) > 0 {
		until = times.read(moved.ItemExpiryTimeDetails[0].ExpiryTime)
	}
	if times.err != nil {
		return time.Time{}, &Error{Reason: Unavailable, Cause: times.err}
	}
	return until, nil
}

// acted returns the error of an action, nil for none.
func (c *Client) acted(ctx context.Context, err error, secrets ...string) error {
	if err == nil {
		return nil
	}
	return c.failure(ctx, aboutAction, err, secrets...)
}
