package membership

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/iap"
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
func (s *Service) ReceivePush(ctx context.Context, bearer string, body []byte) error {
	if err := s.access.Ready(); err != nil {
		return err
	}
	if bearer == "" {
		return errPushRefused
	}
	selling, err := s.selling(ctx)
	if err != nil {
		return err
	}
	verifier, err := s.verifiers.open(selling)
	if err != nil {
		return err
	}
	if err := verifier.VerifyPush(ctx, bearer); err != nil {
		if failed, ok := errors.AsType[*play.Error](err); ok && failed.Reason == play.PushRefused {
			return fault.WithCause(errPushRefused, err)
		}
		return fault.WithCause(fault.Unavailable("store_unavailable", "The keys of the app's store can't be read"), err)
	}
	return s.receive(ctx, body)
}

// receive stores a notification whose sender was authenticated.
func (s *Service) receive(ctx context.Context, body []byte) error {
	n, err := play.ParsePush(body)
	if err != nil {
		s.log.Warn("a notification of the app's store can't be read, and was dropped", "cause", err)
		return nil
	}
	err = s.Receive(ctx, n, body)
	if fault.HasKind(err, countersign.KindInvalid) {
		s.log.Warn("a notification of the app's store was dropped", "cause", err)
		return nil
	}
	return err
}

// verifiers keeps the verifier of push messages, with the keys that it has read, while the settings
// stay the same.
type verifiers struct {
	// url replaces the address of Google's keys, "" for those.
	url string
	now func() time.Time

	mu                sync.Mutex
	audience, account string
	verifier          *play.Verifier
}

// open returns the verifier for settings.
func (v *verifiers) open(s iap.Selling) (*play.Verifier, error) {
	if s.PushAudience == "" || s.PushServiceAccount == "" {
		return nil, errPushSetUp
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.verifier != nil && v.audience == s.PushAudience && v.account == s.PushServiceAccount {
		return v.verifier, nil
	}
	verifier, err := play.NewVerifier(play.VerifierOptions{Audience: s.PushAudience, Account: s.PushServiceAccount, URL: v.url, Now: v.now})
	if err != nil {
		return nil, fault.WithCause(errPushSetUp, err)
	}
	v.verifier, v.audience, v.account = verifier, s.PushAudience, s.PushServiceAccount
	return verifier, nil
}
