package events

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/hook"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/sqldb"
)

const (
	deliverKind = "webhook.deliver"
	// deliverTogether is how many events are sent to one webhook at a time.
	deliverTogether = 4
	// deliverWorkers are enough for all webhooks: receivers that hang delay no other.
	deliverWorkers = maxWebhooks * deliverTogether
	deliverLease   = 10 * time.Second
	// pauseAfter is how long all deliveries of a webhook may fail before it is paused.
	pauseAfter = 72 * time.Hour
)

// deliverRetries are the waits after attempts that failed: ten attempts in about four days.
var deliverRetries = []time.Duration{
	10 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 48 * time.Hour,
}

// deliverTask is the payload of the job that delivers an event to a webhook.
type deliverTask struct {
	Event   int64 `json:"event"` // its place in the feed
	Webhook int64 `json:"webhook"`
}

// enqueue has an event delivered to a webhook at once.
func (s *Service) enqueue(ctx context.Context, tx sqldb.Queries, event, webhook int64) error {
	now := s.access.Now()
	return jobs.Put(ctx, tx, jobs.Task{
		Kind: deliverKind, Key: fmt.Sprintf("%d/%d", event, webhook), Scope: webhook, Payload: deliverTask{event, webhook}, Due: now,
	}, now)
}

// deliveryFailed marks the delivery of a job that failed although no attempt was recorded, for
// example because each of them ended the process.
func (s *Service) deliveryFailed(j jobs.Job) {
	var task deliverTask
	if j.State != jobs.Failed || json.Unmarshal(j.Payload, &task) != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := s.db.FailDelivery(ctx, task.Event, task.Webhook, s.access.Timestamp()); err != nil {
		s.log.Warn("a delivery that failed could not be marked", "cause", err)
	}
}

// deliver makes one attempt. When the process dies between the attempt and its record, the
// next one repeats it with the same id.
func (s *Service) deliver(ctx context.Context, r *jobs.Run) (any, error) {
	var task deliverTask
	if err := json.Unmarshal(r.Payload, &task); err != nil {
		return nil, fmt.Errorf("events: deliver: %w", err)
	}
	if err := s.access.Ready(); err != nil {
		return nil, err
	}
	message, err := s.message(ctx, r, task)
	if err != nil || message == nil {
		return nil, err
	}
	result := s.sender.Send(ctx, *message)
	if ctx.Err() != nil && result.Outcome == hook.Retry { // broken off: it says nothing about the receiver
		return nil, context.Cause(ctx)
	}
	return nil, s.record(context.WithoutCancel(ctx), r, task, result)
}

// message returns what is to be sent, and nil when there is nothing to send (any more).
func (s *Service) message(ctx context.Context, r *jobs.Run, task deliverTask) (m *hook.Message, err error) {
	err = s.db.Tx(ctx, func(tx *addondb.DB) error {
		w, delivery, err := s.lock(ctx, tx, task)
		if errors.Is(err, sqldb.ErrNotFound) { // deleted since
			return r.Finish(ctx, tx.Queries, nil)
		}
		if err != nil {
			return err
		}
		if w.PausedFor != "" {
			return s.hold(ctx, tx, r, delivery)
		}
		event, err := tx.Event(ctx, task.Event)
		if err != nil {
			return err
		}
		secrets, err := s.secrets(w)
		if err != nil {
			return err
		}
		m = &hook.Message{ID: event.EventID, URL: w.URL, Body: []byte(event.Body), Secrets: secrets}
		return nil
	})
	return m, err
}

func (s *Service) lock(ctx context.Context, tx *addondb.DB, task deliverTask) (w addondb.Webhook, d addondb.Delivery, err error) {
	if w, err = tx.LockWebhook(ctx, task.Webhook); err == nil {
		d, err = tx.DeliveryOf(ctx, task.Event, task.Webhook)
	}
	return w, d, err
}

// hold keeps a delivery for the time when its webhook is resumed.
func (s *Service) hold(ctx context.Context, tx *addondb.DB, r *jobs.Run, d addondb.Delivery) error {
	if err := tx.SetDelivery(ctx, d.ID, string(Held), sqldb.Time{}, sqldb.Time{}); err != nil {
		return err
	}
	return r.Finish(ctx, tx.Queries, nil)
}

// record writes an attempt, what becomes of the delivery and its webhook, and ends the job or
// has it run again, in one transaction.
func (s *Service) record(ctx context.Context, r *jobs.Run, task deliverTask, result hook.Result) error {
	return s.db.Tx(ctx, func(tx *addondb.DB) error {
		w, d, err := s.lock(ctx, tx, task)
		if errors.Is(err, sqldb.ErrNotFound) {
			return r.Finish(ctx, tx.Queries, nil)
		}
		if err != nil {
			return err
		}
		now := s.access.Timestamp()
		attempt := addondb.Attempt{At: now, Status: int64(result.Status), TookMS: result.Took.Milliseconds(), Excerpt: result.Text}
		if err := tx.AddAttempt(ctx, d.ID, attempt); err != nil {
			return err
		}
		if result.Outcome != hook.Delivered {
			return s.recordFailure(ctx, tx, r, w, d, result)
		}
		if !w.FailingSince.IsZero() {
			w.FailingSince = sqldb.Time{}
			if err := tx.UpdateWebhook(ctx, w); err != nil {
				return err
			}
		}
		if err := tx.SetDelivery(ctx, d.ID, string(Delivered), sqldb.Time{}, now); err != nil {
			return err
		}
		return r.Finish(ctx, tx.Queries, nil)
	})
}

// recordFailure pauses a webhook that is gone or fails for too long, and tries others again.
func (s *Service) recordFailure(ctx context.Context, tx *addondb.DB, r *jobs.Run, w addondb.Webhook, d addondb.Delivery, result hook.Result) error {
	now := s.access.Timestamp()
	if w.FailingSince.IsZero() {
		w.FailingSince = now
	}
	isLong := now.Sub(w.FailingSince.Time) >= pauseAfter
	switch {
	case w.PausedFor != "":
	case result.Outcome == hook.Gone:
		if err := s.pauseItself(ctx, tx, &w, PausedGone); err != nil {
			return err
		}
	case isLong:
		if err := s.pauseItself(ctx, tx, &w, PausedFailing); err != nil {
			return err
		}
	}
	if err := tx.UpdateWebhook(ctx, w); err != nil {
		return err
	}
	reason := fault.Invalid("webhook_failed", result.Text)
	if result.Outcome == hook.Gone {
		if err := tx.SetDelivery(ctx, d.ID, string(Failed), sqldb.Time{}, now); err != nil {
			return err
		}
		return r.Fail(ctx, tx.Queries, reason)
	}
	if w.PausedFor != "" {
		return s.hold(ctx, tx, r, d)
	}
	at, again, err := r.Retry(ctx, tx.Queries, now.Add(result.RetryAfter), reason)
	if err != nil {
		return err
	}
	if !again {
		return tx.SetDelivery(ctx, d.ID, string(Failed), sqldb.Time{}, now)
	}
	return tx.SetDelivery(ctx, d.ID, string(Pending), sqldb.Time{Time: at}, sqldb.Time{})
}

// pauseItself pauses a webhook for a reason that nobody asked for. The doctor reports it.
func (s *Service) pauseItself(ctx context.Context, tx *addondb.DB, w *addondb.Webhook, why Reason) error {
	s.log.Warn("a webhook was paused", "webhook", webhookName(*w), "reason", why.Text())
	return s.access.Audit(ctx, tx, itself, s.pause(w, why))
}
