package membership

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/play"
)

// maxReviews is among how many of the newest questions about chargebacks one is looked for.
const maxReviews = 1000

// ResultAnswered is the result of a question about a chargeback that was answered.
const ResultAnswered = "answered"

// reviewTime is how long the store waits for the answer.
const reviewTime = 24 * time.Hour

// review is a question of the store about a chargeback.
type review struct {
	message int64 // the id of its notification
	token   string
	origin  origin
}

// announceReview appends the event of a chargeback to be reviewed, when its purchase is known.
// A question about a chargeback names no token, so that no task follows the event.
func (s *Service) announceReview(ctx context.Context, tx *addondb.DB, n play.Notification) error {
	if n.OrderID == "" || n.Token != "" {
		return nil
	}
	found, err := tx.FindPurchases(ctx, n.OrderID, platform, digestOf(s.box(), n.OrderID), 1)
	if err != nil || len(found) == 0 {
		return err
	}
	return s.in(ctx, tx, func(tx *txn) error { return s.appendFor(ctx, tx, events.PurchaseChargeback, found[0]) })
}

// AnswerReview tells the store what the site prefers for the chargeback of an order, and
// closes the alert about it. sample reports whether a free sample or trial was offered. The
// store counts one answer within 24 hours, and ignores others without a word; another one is a
// conflict here (review_ended). An order that the store did not ask about is of kind NotFound
// (review_not_found).
func (s *Service) AnswerReview(ctx context.Context, actor people.Actor, order string, preference play.RefundPreference, sample bool) error {
	if err := s.access.May(actor, access.ManageMembers); err != nil {
		return err
	}
	switch preference {
	case play.ApproveRefund, play.DeclineRefund, play.NoPreference:
	default:
		return fault.WithFields(fault.Invalid("review_invalid", "Unknown answer"), map[string]string{"preference": "Choose one of the answers"})
	}
	asked, err := s.openReview(ctx, order)
	if err != nil {
		return err
	}
	store, selling, err := s.openOrigin(ctx, asked.origin)
	if err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx) // a caller that goes away does not take it back
	if err := store.ReviewRefund(ctx, order, asked.token, preference, sample); err != nil {
		if reason, _ := reasonOf(err); reason == play.Refused {
			return errors.Join(fault.WithCause(errReviewEnded, err), s.resolve(ctx, s.db, alertRefundReview, order))
		}
		return errors.Join(refusal(err), s.noteCall(ctx, callReview, selling, err))
	}
	return s.db.Tx(ctx, func(tx *addondb.DB) error {
		if err := errors.Join(tx.SetMessageResult(ctx, asked.message, ResultAnswered), s.resolve(ctx, tx, alertRefundReview, order)); err != nil {
			return err
		}
		return s.access.Audit(ctx, tx, actor, people.Event{Action: access.ActionPurchaseReview, Subject: order, Detail: string(preference)})
	})
}

var errReviewEnded = fault.Conflict("review_ended", "The store does not take this answer: it was answered already, or the 24 hours have passed")

// openReview is the store's last question about an order, which still waits for the answer.
func (s *Service) openReview(ctx context.Context, order string) (review, error) {
	messages, err := s.db.MessagesOfKind(ctx, string(play.OfRefundReview), maxReviews)
	if err != nil {
		return review{}, err
	}
	for _, m := range messages {
		plain, err := s.box().Open(messagePurpose(m.MessageID), m.Sealed)
		if err != nil {
			continue // sealed with a key file that is lost
		}
		var stored sealedMessage
		if json.Unmarshal(plain, &stored) != nil {
			continue
		}
		if n, err := play.ParsePush(stored.Body); err == nil && n.OrderID == order && n.ReviewToken != "" {
			if m.Result == ResultAnswered || s.timestamp().Sub(m.ReceivedAt.Time) > reviewTime {
				return review{}, errReviewEnded
			}
			return review{m.ID, n.ReviewToken, originOfMessage(m.MessageID, n.Package)}, nil
		}
	}
	return review{}, fault.New(countersign.KindNotFound, "review_not_found", "The store has not asked about this order, or too long ago")
}
