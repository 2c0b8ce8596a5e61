package membership

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/play"
)

// maxReviews is among how many of the newest questions about chargebacks one is looked for.
const maxReviews = 1000

// announceReview appends the event of a chargeback to be reviewed, when its purchase is known.
// A question about a chargeback names no token, so that no task follows the event.
func (s *Service) announceReview(ctx context.Context, tx *addondb.DB, n Notification) error {
	if n.OrderID == "" || n.Token != "" {
		return nil
	}
	found, err := tx.FindPurchases(ctx, n.OrderID, platform, digestOf(s.box(), n.OrderID), 1)
	if err != nil || len(found) == 0 {
		return err
	}
	events := &txn{DB: tx}
	if err := s.appendFor(ctx, events, entitle.ChargebackReview, found[0]); err != nil {
		return err
	}
	return s.Append(ctx, tx, events.events[0])
}

// AnswerReview tells the store what the site prefers for the chargeback of an order, and
// closes the alert about it. sample reports whether a free sample or trial was offered. The
// store takes one answer within 24 hours; another one is a conflict (review_ended). An order
// that the store did not ask about is of kind NotFound (review_not_found).
func (s *Service) AnswerReview(ctx context.Context, actor people.Actor, order string, preference play.RefundPreference, sample bool) error {
	if err := s.guard.May(actor, access.ManageMembers); err != nil {
		return err
	}
	switch preference {
	case play.ApproveRefund, play.DeclineRefund, play.NoPreference:
	default:
		return fault.WithFields(fault.Invalid("review_invalid", "Unknown answer"), map[string]string{"preference": "Choose one of the answers"})
	}
	token, err := s.reviewToken(ctx, order)
	if err != nil {
		return err
	}
	store, _, err := s.open(ctx)
	if err != nil {
		return err
	}
	if err := store.ReviewRefund(ctx, order, token, preference, sample); err != nil {
		if reason, _ := reasonOf(err); reason == play.Refused {
			return fault.WithCause(fault.Conflict("review_ended", "The store does not take this answer: it was answered already, or the 24 hours have passed"), err)
		}
		return errors.Join(refusal(err), s.noteCall(ctx, err))
	}
	return s.db.Tx(ctx, func(tx *addondb.DB) error {
		if err := s.resolve(ctx, tx, alertRefundReview, order); err != nil {
			return err
		}
		return s.guard.Audit(ctx, tx, actor, people.Event{Action: access.ActionPurchaseReview, Subject: order, Detail: string(preference)})
	})
}

// reviewToken is the token of the store's question about an order.
func (s *Service) reviewToken(ctx context.Context, order string) (string, error) {
	messages, err := s.db.MessagesOfKind(ctx, string(NotifyRefundReview), maxReviews)
	if err != nil {
		return "", err
	}
	for _, m := range messages {
		plain, err := s.box().Open(messagePurpose(m.MessageID), m.Sealed)
		if err != nil {
			continue // sealed with a key file that is lost
		}
		var kept sealedMessage
		if json.Unmarshal(plain, &kept) != nil {
			continue
		}
		if n, err := play.ParsePush(kept.Body); err == nil && n.OrderID == order && n.ReviewToken != "" {
			return n.ReviewToken, nil
		}
	}
	return "", fault.New(countersign.KindNotFound, "review_not_found", "The store has not asked about this order, or too long ago")
}
