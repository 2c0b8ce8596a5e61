package addon

import (
	"context"
	"errors"
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/membership"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/play"
	"github.com/countersign/countersign/internal/sqldb"
)

const (
	// kindPull is the task that pulls notifications. It repeats while a pull subscription is set.
	kindPull = "iap.pull"
	// pullBatch is how many notifications are pulled at once, and maxPulls how often without a pause. Google sends
	// again what is not acknowledged within ten seconds.
	pullBatch, maxPulls = 20, 50
	// pullPause is the time after a pull without notifications. Google itself waits for the first one.
	pullPause = 10 * time.Second
)

// openPull sets up the task that pulls notifications.
func (a *Addon) openPull() {
	work := membership.Work{Do: a.doPull}
	a.queue.Handle(kindPull, jobs.Kind{
		Work:  func(ctx context.Context, r *jobs.Run) (any, error) { return nil, a.doTask(ctx, r, work) },
		Lease: memberLease, Forever: true, Retries: []time.Duration{pullPause, 30 * time.Second, 2 * time.Minute, 10 * time.Minute},
	})
}

// keepPulling puts the task at the start, and whenever a pull subscription was set.
func (a *Addon) keepPulling(ctx context.Context) {
	for {
		if err := a.ensurePull(ctx); err != nil && ctx.Err() == nil && !fault.IsUnavailable(err) {
			a.log.Error("the task that pulls notifications could not be begun", "cause", err)
		}
		if !group.Sleep(ctx, pullPause, nil) {
			return
		}
	}
}

// ensurePull puts the task if a pull subscription is set and no process has the task.
func (a *Addon) ensurePull(ctx context.Context) error {
	selling, err := a.IAP.Selling(ctx)
	if err != nil || !selling.Pulls() {
		return err
	}
	if _, err := jobs.Open(ctx, a.db.Queries, kindPull, membership.RepeatingKey); !errors.Is(err, sqldb.ErrNotFound) {
		return err
	}
	return a.db.Tx(ctx, func(tx *addondb.DB) error {
		return jobs.Ensure(ctx, tx.Queries, jobs.Task{Kind: kindPull, Key: membership.RepeatingKey, Due: a.now()}, a.now())
	})
}

// doPull pulls notifications until no more arrive, and asks to be run again while a pull subscription is set.
func (a *Addon) doPull(ctx context.Context, _ []byte) (again time.Time, err error) {
	selling, err := a.IAP.Selling(ctx)
	if err != nil || !selling.Pulls() {
		return time.Time{}, err
	}
	more, err := a.pull(ctx, selling)
	if ctx.Err() != nil {
		return time.Time{}, err
	}
	if noted := a.Members.NotePull(ctx, selling.PullSubscription, err); err == nil {
		err = noted
	}
	if err != nil {
		a.log.Warn("notifications of the app's store could not be pulled", "cause", err)
		return time.Time{}, fault.WithCause(fault.Unavailable("store_unavailable", "Notifications of the app's store can't be pulled"), err)
	}
	if more {
		return a.now(), nil
	}
	return a.now().Add(pullPause), nil
}

// pull stores notifications and then acknowledges them. It returns whether more may wait.
func (a *Addon) pull(ctx context.Context, selling iap.Selling) (more bool, err error) {
	google, err := a.plays.open(selling)
	if err != nil {
		return false, err
	}
	for range maxPulls {
		messages, err := google.Pull(ctx, selling.PullSubscription, pullBatch)
		if err != nil || len(messages) == 0 {
			return false, err
		}
		if err := a.storePulled(ctx, google, selling.PullSubscription, messages); err != nil {
			return false, err
		}
	}
	return true, nil
}

// storePulled stores notifications, and acknowledges those that are stored. The others arrive again.
func (a *Addon) storePulled(ctx context.Context, google *play.Client, subscription string, messages []play.Message) error {
	var stored []string
	var failed error
	for _, m := range messages {
		if failed = a.receive(ctx, m.Body); failed != nil {
			break
		}
		stored = append(stored, m.AckID)
	}
	return errors.Join(failed, google.AcknowledgeMessages(ctx, subscription, stored))
}
