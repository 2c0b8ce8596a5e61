package events

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// State is how far a delivery is.
type State string

// The states of a delivery.
const (
	// Pending is due, or waits for its next attempt.
	Pending State = "pending"
	// Held waits until its webhook is resumed.
	Held      State = "held"
	Delivered State = "delivered"
	Failed    State = "failed"
)

const (
	// maxDeliveries is how many deliveries one call returns.
	maxDeliveries = 500
	// maxReplay is how many events one call sends again.
	maxReplay = 5000
)

// Delivery is what became of an event at a webhook.
type Delivery struct {
	ID      int64
	Webhook int64
	// Event is the id of the event, which is the header webhook-id, and Type its type.
	Event string
	Type  Type
	State State
	// Attempts counts how often it was sent.
	Attempts int64
	// NextAt is when it is sent next, zero for one that is not pending.
	NextAt    time.Time
	CreatedAt time.Time
	EndedAt   time.Time // zero for one that is pending or held
	// LastStatus is the status of the last response, 0 for none, and LastText its beginning,
	// or why there was none.
	LastStatus int
	LastText   string
}

func deliveryOf(d addondb.Delivery) Delivery {
	return Delivery{
		ID: d.ID, Webhook: d.Webhook, Event: d.EventID, Type: Type(d.Type), State: State(d.State), Attempts: d.Attempts,
		NextAt: d.NextAt.Time, CreatedAt: d.CreatedAt.Time, EndedAt: d.EndedAt.Time, LastStatus: int(d.LastStatus), LastText: d.LastExcerpt,
	}
}

// Attempt is one attempt to deliver an event.
type Attempt struct {
	At     time.Time
	Status int // of the response, 0 for none
	Took   time.Duration
	// Text is the beginning of the response, or why there was none.
	Text string
}

// DeliveryFilter selects deliveries of a webhook.
type DeliveryFilter struct {
	State  State // "" for all
	Before int64 // the id of the last delivery of the page before, 0 for the newest
	Limit  int   // 50 when it is 0, and never more than 500
}

// Deliveries lists those of a webhook, newest first. It has those of 30 days.
func (s *Service) Deliveries(ctx context.Context, a people.Actor, webhook int64, f DeliveryFilter) ([]Delivery, error) {
	if _, err := s.Webhook(ctx, a, webhook); err != nil {
		return nil, err
	}
	if f.Limit <= 0 {
		f.Limit = 50
	}
	rows, err := s.db.Deliveries(ctx, addondb.DeliveryFilter{Webhook: webhook, State: string(f.State), Before: f.Before, Limit: min(f.Limit, maxDeliveries)})
	return sqldb.Convert(rows, deliveryOf), err
}

// Delivery reads one with its attempts, oldest first. Its error is of kind NotFound
// (delivery_not_found).
func (s *Service) Delivery(ctx context.Context, a people.Actor, id int64) (Delivery, []Attempt, error) {
	if err := s.access.May(a, access.ManageSite); err != nil {
		return Delivery{}, nil, err
	}
	row, err := s.db.Delivery(ctx, id)
	if err != nil {
		return Delivery{}, nil, sqldb.IfNotFound(err, noDelivery(id))
	}
	attempts, err := s.db.Attempts(ctx, id)
	return deliveryOf(row), sqldb.Convert(attempts, func(a addondb.Attempt) Attempt {
		return Attempt{At: a.At.Time, Status: int(a.Status), Took: time.Duration(a.TookMS) * time.Millisecond, Text: a.Excerpt}
	}), err
}

// DeliveryBody returns the body that a delivery sends. Its error is of kind NotFound
// (delivery_not_found).
func (s *Service) DeliveryBody(ctx context.Context, a people.Actor, id int64) (json.RawMessage, error) {
	if err := s.access.May(a, access.ManageSite); err != nil {
		return nil, err
	}
	row, err := s.db.Delivery(ctx, id)
	if err != nil {
		return nil, sqldb.IfNotFound(err, noDelivery(id))
	}
	event, err := s.db.Event(ctx, row.Event)
	return json.RawMessage(event.Body), sqldb.IfNotFound(err, noDelivery(id))
}

func noDelivery(id int64) error {
	return fault.NotFound("delivery_not_found", fmt.Sprintf("No delivery with the id %d", id))
}

var errPaused = fault.Conflict("webhook_paused", "The webhook is paused. Resume it first: that sends what was held for it")

// Ping sends an event of the type test.ping to a webhook alone, and returns the event's id. One that is
// paused is a conflict (webhook_paused).
func (s *Service) Ping(ctx context.Context, a people.Actor, webhook int64) (event string, err error) {
	_, err = s.changeWebhook(ctx, a, webhook, func(tx *addondb.DB, w *addondb.Webhook) (people.Event, error) {
		if w.PausedFor != "" {
			return people.Event{}, errPaused
		}
		id, seq, err := s.append(ctx, tx, Event{Type: TestPing, Environment: "test"})
		if err != nil {
			return people.Event{}, err
		}
		event = id
		return people.Event{Action: access.ActionWebhookPing, Detail: id}, s.send(ctx, tx, seq, *w)
	})
	return event, err
}

// Replay sends the event of a delivery to its webhook again, with its id. A paused webhook is a
// conflict (webhook_paused), and a delivery of another one is of kind NotFound (delivery_not_found).
func (s *Service) Replay(ctx context.Context, a people.Actor, webhook, delivery int64) error {
	_, err := s.changeWebhook(ctx, a, webhook, func(tx *addondb.DB, w *addondb.Webhook) (people.Event, error) {
		row, err := tx.Delivery(ctx, delivery)
		switch {
		case err != nil:
			return people.Event{}, sqldb.IfNotFound(err, noDelivery(delivery))
		case row.Webhook != webhook:
			return people.Event{}, noDelivery(delivery)
		case w.PausedFor != "":
			return people.Event{}, errPaused
		}
		return people.Event{Action: access.ActionWebhookReplay, Detail: row.EventID}, s.send(ctx, tx, row.Event, *w)
	})
	return err
}

// ReplaySince sends all events since a time to a webhook again that it wants, and returns how
// many. More than 5,000 are of kind Invalid (replay_too_many); a paused webhook is a conflict
// (webhook_paused).
func (s *Service) ReplaySince(ctx context.Context, a people.Actor, webhook int64, since time.Time) (sent int, err error) {
	_, err = s.changeWebhook(ctx, a, webhook, func(tx *addondb.DB, w *addondb.Webhook) (people.Event, error) {
		if w.PausedFor != "" {
			return people.Event{}, errPaused
		}
		list, err := tx.EventsSince(ctx, sqldb.Time{Time: since}, maxReplay+1)
		if err != nil {
			return people.Event{}, err
		}
		if len(list) > maxReplay {
			return people.Event{}, fault.Invalid("replay_too_many", fmt.Sprintf("More than %d events since then. Choose a later time", maxReplay))
		}
		for _, e := range list {
			if Type(e.Type) == TestPing || !wants(*w, Type(e.Type)) {
				continue
			}
			if err := s.send(ctx, tx, e.Seq, *w); err != nil {
				return people.Event{}, err
			}
			sent++
		}
		return people.Event{Action: access.ActionWebhookReplay, Detail: fmt.Sprintf("%d events since %s", sent, since.UTC().Format(time.RFC3339))}, nil
	})
	return sent, err
}
