package play

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/countersign/countersign/internal/play/publisher"
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
// purchase after three days. It can be repeated. An answer of 2xx that is not Google's is an
// error with the reason [Unavailable]: the purchase may be acknowledged, or not. The account and the profile are sent when
// one of them is set: only a subscription that was bought again outside of the app takes them.
func (c *Client) Acknowledge(ctx context.Context, productID, token, account, profile string) error {
	if err := checkToken(token); err != nil {
		return err
	}
	accepted := &publisher.SubscriptionPurchasesAcknowledgeRequest{}
	if account != "" || profile != "" {
		accepted.ExternalAccountIDs = &publisher.ExternalAccountIDs{ObfuscatedAccountID: account, ObfuscatedProfileID: profile}
	}
	var answer map[string]any
	err := c.call(ctx, request{
		method: http.MethodPost, path: "purchases/subscriptions/" + escape(productID) + "/tokens/" + escape(token) + ":acknowledge",
		body: accepted, about: aboutAction, secrets: []string{token, account, profile},
	}, &answer)
	if err == nil && len(answer) > 0 {
		return &Error{Reason: Unavailable, Cause: errors.New("the answer is not Google's")}
	}
	return err
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
	return c.act(ctx, token, "cancel", &publisher.CancelSubscriptionPurchaseRequest{
		CancellationContext: &publisher.CancellationContext{CancellationType: types[kind]},
	}, &publisher.Empty{})
}

// Revoke ends a subscription at once, with a refund.
func (c *Client) Revoke(ctx context.Context, token string, refund Refund) error {
	if err := checkToken(token); err != nil {
		return err
	}
	how := &publisher.RevocationContext{}
	switch refund {
	case FullRefund:
		how.FullRefund = &publisher.Empty{}
	case ProratedRefund:
		how.ProratedRefund = &publisher.Empty{}
	default:
		return &Error{Reason: Refused, Cause: fmt.Errorf("unknown refund %q", refund)}
	}
	return c.act(ctx, token, "revoke", &publisher.RevokeSubscriptionPurchaseRequest{RevocationContext: how}, &publisher.Empty{})
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
	var moved publisher.DeferSubscriptionPurchaseResponse
	err := c.act(ctx, token, "defer", &publisher.DeferSubscriptionPurchaseRequest{
		DeferralContext: &publisher.DeferralContext{Etag: etag, DeferDuration: fmt.Sprintf("%ds", int64(by/time.Second))},
	}, &moved, etag)
	if err != nil {
		return time.Time{}, err
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

// act calls an action of a subscription.
func (c *Client) act(ctx context.Context, token, action string, body, answer any, secrets ...string) error {
	return c.call(ctx, request{
		method: http.MethodPost, path: "purchases/subscriptionsv2/tokens/" + escape(token) + ":" + action,
		body: body, about: aboutAction, secrets: append(secrets, token),
	}, answer)
}
