package addon

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/membership"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/play"
)

var (
	errPushRefused = fault.Unauthorized("push_refused", "The token does not prove that the app's store sent this")
	errPushSetUp   = fault.Unavailable("not_configured", "Notifications of the app's store are not configured")
)

// ReceivePush stores a notification that the app's store pushed. bearer is the token that proves
// who sent it: without a valid one it is an error of kind Unauthorized (push_refused). Kind
// Unavailable means that the sender has to try again. A notification that can't be read is dropped,
// because it would come again.
func (a *Addon) ReceivePush(ctx context.Context, bearer string, body []byte) error {
	if err := a.guard.Ready(); err != nil {
		return err
	}
	if bearer == "" {
		return errPushRefused
	}
	selling, err := a.IAP.Selling(ctx)
	if err != nil {
		return err
	}
	verifier, err := a.pushes.open(selling)
	if err != nil {
		return err
	}
	if err := verifier.VerifyPush(ctx, bearer); err != nil {
		if failed, ok := errors.AsType[*play.Error](err); ok && failed.Reason == play.PushRefused {
			return fault.WithCause(errPushRefused, err)
		}
		return fault.WithCause(fault.Unavailable("store_unavailable", "The keys of the app's store can't be read"), err)
	}
	return a.receive(ctx, body)
}

// receive stores a notification whose sender was authenticated.
func (a *Addon) receive(ctx context.Context, body []byte) error {
	n, err := play.ParsePush(body)
	if err != nil {
		a.log.Warn("a notification of the app's store can't be read, and was dropped", "cause", err)
		return nil
	}
	err = a.Members.Receive(ctx, membership.Notification{
		MessageID: n.MessageID, Application: n.Package, Kind: membership.NotificationKind(n.Kind), Code: n.Code,
		Product: n.ProductID, Token: n.Token, OrderID: n.OrderID, Body: body,
	})
	if fault.HasKind(err, countersign.KindInvalid) {
		a.log.Warn("a notification of the app's store was dropped", "cause", err)
		return nil
	}
	return err
}

// pushes keeps the verifier of push messages, with the keys that it has read, while the settings
// stay the same.
type pushes struct {
	// url replaces the address of Google's keys, "" for those.
	url string
	now func() time.Time

	mu                sync.Mutex
	audience, account string
	verifier          *play.Verifier
}

// open returns the verifier for settings.
func (p *pushes) open(s iap.Selling) (*play.Verifier, error) {
	if s.PushAudience == "" || s.PushServiceAccount == "" {
		return nil, errPushSetUp
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.verifier != nil && p.audience == s.PushAudience && p.account == s.PushServiceAccount {
		return p.verifier, nil
	}
	v, err := play.NewVerifier(play.VerifierOptions{Audience: s.PushAudience, Account: s.PushServiceAccount, URL: p.url, Now: p.now})
	if err != nil {
		return nil, fault.WithCause(errPushSetUp, err)
	}
	p.verifier, p.audience, p.account = v, s.PushAudience, s.PushServiceAccount
	return v, nil
}
