package membership

import (
	"context"
	"errors"
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/play"
	"github.com/countersign/countersign/internal/sqldb"
)

const alertPull = "notifications_not_pulled"

const (
	// KindPull is the task that pulls notifications. It repeats while a pull subscription is set.
	KindPull = "iap.pull"
	// PullBatch is how many notifications are pulled at once, and maxPulls how often without a pause. Google sends
	// again what is not acknowledged within ten seconds.
	PullBatch, maxPulls = 20, 50
	// PullPause is the time after a pull without notifications. Google itself waits for the first one.
	PullPause = 10 * time.Second
)

// KeepPulling puts the task at the start, and whenever a pull subscription was set.
func (s *Service) KeepPulling(ctx context.Context) {
	for {
		if err := s.EnsurePull(ctx); err != nil && ctx.Err() == nil && !fault.IsUnavailable(err) {
			s.log.Error("the task that pulls notifications could not be begun", "cause", err)
		}
		if !group.Sleep(ctx, PullPause, nil) {
			return
		}
	}
}

// EnsurePull puts the task if a pull subscription is set and no process has the task.
func (s *Service) EnsurePull(ctx context.Context) error {
	selling, err := s.selling(ctx)
	if err != nil || !selling.Pulls() {
		return err
	}
	if _, err := jobs.Open(ctx, s.db.Queries, KindPull, RepeatingKey); !errors.Is(err, sqldb.ErrNotFound) {
		return err
	}
	return s.db.Tx(ctx, func(tx *addondb.DB) error {
		return jobs.Ensure(ctx, tx.Queries, jobs.Task{Kind: KindPull, Key: RepeatingKey, Due: s.access.Now()}, s.access.Now())
	})
}

// Pull pulls notifications until no more arrive, and asks to be run again while a pull subscription is set.
func (s *Service) Pull(ctx context.Context, _ []byte) (again time.Time, err error) {
	selling, err := s.selling(ctx)
	if err != nil || !selling.Pulls() {
		return time.Time{}, err
	}
	more, err := s.pull(ctx, selling)
	if ctx.Err() != nil {
		return time.Time{}, err
	}
	if noted := s.notePull(ctx, selling.PullSubscription, err); err == nil {
		err = noted
	}
	if err != nil {
		s.log.Warn("notifications of the app's store could not be pulled", "cause", err)
		return time.Time{}, fault.WithCause(fault.Unavailable("store_unavailable", "Notifications of the app's store can't be pulled"), err)
	}
	if more {
		return s.access.Now(), nil
	}
	return s.access.Now().Add(PullPause), nil
}

// pull stores notifications and then acknowledges them. It returns whether more may wait.
func (s *Service) pull(ctx context.Context, selling iap.Selling) (more bool, err error) {
	google, err := s.clients.open(selling)
	if err != nil {
		return false, err
	}
	for range maxPulls {
		messages, err := google.Pull(ctx, selling.PullSubscription, PullBatch)
		if err != nil || len(messages) == 0 {
			return false, err
		}
		if err := s.storePulled(ctx, google, selling.PullSubscription, messages); err != nil {
			return false, err
		}
	}
	return true, nil
}

// storePulled stores notifications, and acknowledges those that are stored. The others arrive again.
func (s *Service) storePulled(ctx context.Context, google *play.Client, subscription string, messages []play.Message) error {
	var stored []string
	var failed error
	for _, m := range messages {
		if failed = s.receive(ctx, m.Body); failed != nil {
			break
		}
		stored = append(stored, m.AckID)
	}
	return errors.Join(failed, google.AcknowledgeMessages(ctx, subscription, stored))
}

// notePull raises an alert when notifications can't be pulled from a subscription until somebody changes something, and
// resolves it when they can. failed is why they could not be pulled, nil when they were.
func (s *Service) notePull(ctx context.Context, subscription string, failed error) error {
	reason, _ := reasonOf(failed)
	problem := ""
	switch reason {
	case "":
		return s.resolveOnce(ctx, alertPull, "")
	case play.Unauthorized:
		problem = "The service account may not pull notifications. Grant it the role Pub/Sub Subscriber for the subscription " + subscription
	case play.Refused:
		problem = "Google refuses to pull notifications. Check that the subscription " + subscription + " exists and is not a push subscription"
	default:
		return nil
	}
	return s.raiseAgain(ctx, alertPull, "", problem)
}
