package membership

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/play"
)

// probeWait is the time between two questions whether the store answers again.
const probeWait = 2 * time.Second

// errOthersWait means that the store was not asked, because it does not answer other verifications.
var errOthersWait = errors.New("membership: other verifications wait for the store")

// isOutage reports whether a verification is queued because the store does not answer.
func isOutage(failed error) bool {
	return !isUnknown(failed) && !fault.HasCode(failed, "store_not_authorised")
}

// putProbe puts the task that finds out when the store answers again, after what it has repeated was written. All who
// queue a verification at the same time share one: each would wait for the others' transactions.
func (s *Service) putProbe(ctx context.Context, failed error) error {
	wait := probeWait
	if apiErr := fault.Of(failed); apiErr != nil {
		wait = max(wait, apiErr.RetryAfter)
	}
	_, err, _ := s.flights.Do(KindProbe, func() (any, error) {
		return nil, s.putAll(ctx, []jobs.Task{{Kind: KindProbe, Key: RepeatingKey, Due: s.now().Add(wait)}})
	})
	return err
}

// doProbe asks the store about the verification that was queued first, and has all repeated once it answers. Meanwhile
// those that are due wait: workers that hang would be missed when the store returns.
func (s *Service) doProbe(ctx context.Context, _ []byte) (again time.Time, err error) {
	first, err := s.db.OldestQueuedVerification(ctx)
	if err != nil {
		return time.Time{}, ignoreNotFound(err)
	}
	store, _, err := s.openToken(ctx, first.TokenDigest, origin{first.Simulated, first.Application})
	if fault.HasCode(err, codeNotConfigured) {
		return s.now().Add(time.Minute), nil
	}
	if err != nil {
		return time.Time{}, err
	}
	if token, err := s.box().Open(purposeQueued, first.Sealed); err == nil {
		_, err := s.askOnce(ctx, store.Subscription, string(token))
		if reason, after := reasonOf(err); reason == play.Unavailable {
			postpone := func(tx *addondb.DB) error { return s.postpone(ctx, tx, KindVerify, s.now().Add(outageWait)) }
			return s.now().Add(max(probeWait, after)), s.db.Tx(ctx, postpone)
		}
	}
	return time.Time{}, s.repeatQueued(ctx)
}

// repeatQueued has the queued verifications repeated: first one of each user, then a second one of each, so that those of a
// user who has many delay nobody. Those that the store did not know have a schedule of their own, and come last when it
// was interrupted.
func (s *Service) repeatQueued(ctx context.Context) error {
	var tasks []jobs.Task
	turns := map[string]time.Duration{}
	err := eachQueued(ctx, s.db, func(q addondb.QueuedVerification) error {
		task := verifyTask(q.ID, s.now().Add(turns[q.UserID]))
		if q.Unknown {
			task.Due = task.Due.Add(unknownWait)
		}
		task.Exact = !q.Unknown // after a long outage, all are due
		tasks = append(tasks, task)
		turns[q.UserID] += time.Second
		return nil
	})
	if err != nil {
		return err
	}
	// Those of a user who has many are put last: putting all takes longer than a turn, and workers begin meanwhile.
	slices.SortStableFunc(tasks, func(a, b jobs.Task) int { return a.Due.Compare(b.Due) })
	return s.putAll(ctx, tasks)
}
