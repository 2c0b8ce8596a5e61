package events

import (
	"context"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// Reason is why a webhook is paused.
type Reason string

// The reasons for which a webhook is paused.
const (
	// PausedByHand was paused by a user or the operator.
	PausedByHand Reason = "by_hand"
	// PausedGone answered 410.
	PausedGone Reason = "gone"
	// PausedFailing failed for three days.
	PausedFailing Reason = "failing"
	// PausedSecretLost has no secret any more, because the key file was replaced.
	PausedSecretLost Reason = "secret_lost"
)

// Text is the reason in words.
func (r Reason) Text() string {
	return map[Reason]string{
		PausedByHand: "by hand", PausedGone: "its receiver answered 410 Gone", PausedFailing: "all deliveries failed for three days",
		PausedSecretLost: "its secret was lost with the key file",
	}[r]
}

// Pause holds the deliveries of a webhook until it is resumed. Events of the meantime are kept
// for it, up to 30 days.
func (s *Service) Pause(ctx context.Context, a people.Actor, id int64) (Webhook, error) {
	return s.changeWebhook(ctx, a, id, func(_ *addondb.DB, w *addondb.Webhook) (people.Event, error) {
		if w.PausedFor != "" {
			return people.Event{}, nil
		}
		return s.pause(w, PausedByHand), nil
	})
}

// pause changes w, and returns the audit entry of it.
func (s *Service) pause(w *addondb.Webhook, why Reason) people.Event {
	w.PausedFor, w.PausedAt = string(why), s.access.Timestamp()
	return people.Event{Action: access.ActionWebhookPause, Subject: webhookName(*w), Detail: why.Text()}
}

// Resume sends the events that were held for a webhook or wait for another attempt at once, and
// all later ones. Without a secret it is a conflict (webhook_secret_lost).
func (s *Service) Resume(ctx context.Context, a people.Actor, id int64) (Webhook, error) {
	return s.changeWebhook(ctx, a, id, func(tx *addondb.DB, w *addondb.Webhook) (people.Event, error) {
		if w.PausedFor == "" {
			return people.Event{}, nil
		}
		if _, err := s.secrets(*w); err != nil {
			return people.Event{}, err
		}
		before := Reason(w.PausedFor).Text()
		w.PausedFor, w.PausedAt, w.FailingSince = "", sqldb.Time{}, sqldb.Time{}
		held, err := tx.ReleaseDeliveries(ctx, id, s.access.Timestamp())
		if err != nil {
			return people.Event{}, err
		}
		for _, event := range held {
			if err := s.enqueue(ctx, tx.Queries, event, id); err != nil {
				return people.Event{}, err
			}
		}
		return people.Event{Action: access.ActionWebhookResume, Before: before}, nil
	})
}
