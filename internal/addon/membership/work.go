package membership

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/sqldb"
)

// The kinds of tasks. The last five repeat for ever, and have the key [RepeatingKey].
const (
	KindAcknowledge = "iap.acknowledge" // a purchase
	KindWatch       = "iap.watch"       // a purchase that will end, or that is pending, on hold or paused
	KindReread      = "iap.reread"      // a purchase
	KindNotified    = "iap.notified"    // a token that notifications are about
	KindVerify      = "iap.verify"      // a verification that the store did not answer
	KindProbe       = "iap.probe"       // whether the store answers again, while verifications are queued
	KindGrantEnd    = "iap.grant_end"
	KindDerive      = "iap.derive" // all memberships, after a change of the rules
	KindVoided      = "iap.voided"
	KindSweep       = "iap.sweep"
	KindCatalogue   = "iap.catalogue"
	KindSilence     = "iap.silence"
	KindOrders      = "iap.orders" // what was paid for orders
)

// RepeatingKey is the key of the tasks that repeat for ever.
const RepeatingKey = "all"

// Lease is how long after the death of its process a task is done by another one.
const Lease = 10 * time.Second

// work does a task. A time that do returns is when the task is done again. After an error it
// is tried again, after the waits of retries.
type work struct {
	do      func(ctx context.Context, payload []byte) (again time.Time, err error)
	retries []time.Duration
	workers int // that wait for the store at a time
}

// SlowRetries are the waits of tasks after attempts that failed; the last one repeats.
func SlowRetries() []time.Duration {
	return []time.Duration{30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour}
}

// Handle has a queue do the tasks. One that is put while one with its key is being done has to be
// done after it.
func (s *Service) Handle(q *jobs.Queue) {
	for kind, w := range s.works() {
		q.Handle(kind, jobs.Kind{Work: jobs.Repeating(w.do), Workers: w.workers, Lease: Lease, Retries: w.retries, Forever: true})
	}
}

func (s *Service) works() map[string]work {
	const few, many = 4, 16
	slow := SlowRetries()
	return map[string]work{
		KindAcknowledge: {s.doAcknowledge, entitle.AcknowledgeRetries(), few},
		KindWatch:       {s.doWatch, slow, few},
		KindReread:      {s.doReread, slow, few},
		KindNotified:    {s.doNotified, slow, few},
		KindVerify:      {s.doVerify, slow, many},
		KindProbe:       {s.doProbe, slow, few},
		KindGrantEnd:    {s.doGrantEnd, slow, few},
		KindDerive:      {s.doDerive, slow, few},
		KindVoided:      {s.doVoided, slow, few},
		KindSweep:       {s.doSweep, slow, few},
		KindCatalogue:   {s.doCatalogue, slow, few},
		KindSilence:     {s.doSilence, slow, few},
		KindOrders:      {s.doOrders, slow, few},
		KindPull:        {s.Pull, []time.Duration{PullPause, 30 * time.Second, 2 * time.Minute, 10 * time.Minute}, 0},
	}
}

// Start puts the tasks that repeat, and begins the schedules of each pending acknowledgement and of the queued verifications
// anew (1.4). It is called once when a server starts.
func (s *Service) Start(ctx context.Context) error {
	tasks := []jobs.Task{}
	for _, kind := range []string{KindVoided, KindSweep, KindCatalogue, KindSilence, KindOrders} {
		tasks = append(tasks, jobs.Task{Kind: kind, Key: RepeatingKey, Due: s.now()})
	}
	pending, err := s.db.UnacknowledgedPurchases(ctx)
	if err != nil {
		return err
	}
	for _, purchase := range pending {
		tasks = append(tasks, purchaseTask(KindAcknowledge, purchase, s.now()))
	}
	switch _, err := s.db.OldestQueuedVerification(ctx); {
	case err == nil:
		tasks = append(tasks, jobs.Task{Kind: KindProbe, Key: RepeatingKey, Due: s.now()})
	case !errors.Is(err, sqldb.ErrNotFound):
		return err
	}
	return s.putAll(ctx, tasks)
}

// The payloads of tasks.
type (
	purchaseRef struct {
		Purchase string `json:"purchase"`
	}
	tokenRef struct {
		Token string `json:"token"` // sealed
		origin
		OneTime bool `json:"one_time,omitempty"`
	}
	grantEnd struct {
		Grant int64 `json:"grant"`
	}
)

func purchaseTask(kind, purchase string, due time.Time) jobs.Task {
	return jobs.Task{Kind: kind, Key: purchase, Due: due, Payload: purchaseRef{purchase}}
}

// putAtOnce is how many tasks one transaction puts at most.
const putAtOnce = 100

// putAll puts tasks, some in each transaction, so that others can write in between. After an error it can be repeated.
func (s *Service) putAll(ctx context.Context, tasks []jobs.Task) error {
	for some := range slices.Chunk(tasks, putAtOnce) {
		err := s.db.Tx(ctx, func(tx *addondb.DB) error {
			for _, task := range some {
				if err := s.put(ctx, tx, task); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// inlineWait is how long after a request the task is due that does what the request tries first.
const inlineWait = 5 * time.Second

// schedule puts the tasks that a changed purchase needs.
func (s *Service) schedule(ctx context.Context, tx *addondb.DB, p addondb.Purchase, cause string) error {
	if !p.AcknowledgeSince.IsZero() {
		due := s.now()
		if cause == causeVerify || cause == causeRestore {
			due = due.Add(inlineWait)
		}
		if err := s.put(ctx, tx, purchaseTask(KindAcknowledge, p.Name, due)); err != nil {
			return err
		}
	}
	if p.Status == string(entitle.Failed) && p.LinkedDigest != nil { // the old plan may still be active
		before, err := tx.PurchaseByToken(ctx, p.Platform, p.LinkedDigest)
		if ignoreNotFound(err) != nil {
			return err
		}
		if before.ID != 0 {
			if err := s.put(ctx, tx, purchaseTask(KindReread, before.Name, s.now())); err != nil {
				return err
			}
		}
	}
	if next, more := s.nextCheck(p); more {
		return s.put(ctx, tx, purchaseTask(KindWatch, p.Name, next))
	}
	return nil
}

// nextCheck returns when a purchase has to be read again, false for one that has ended (6.6).
func (s *Service) nextCheck(p addondb.Purchase) (time.Time, bool) {
	switch status := entitle.Status(p.Status); {
	case p.SupersededBy != 0:
		return time.Time{}, false
	case isForEver(p):
		return time.Time{}, false
	case p.Access:
		return entitle.NextExpiryCheck(p.ExpiresAt.Time, s.now(), s.jitter(entitle.ExpiryJitter)), true
	case p.Unverified:
		return s.now().Add(2 * time.Hour), s.now().Before(p.StatusSince.Add(entitle.HeldFor))
	case status == entitle.Pending || status == entitle.OnHold || status == entitle.Paused:
		return entitle.NextHeldCheck(p.StatusSince.Time, s.now(), p.AutoResumeAt.Time)
	}
	return time.Time{}, false
}

// errNothingToDo means that a task has no object any more.
var errNothingToDo = errors.New("membership: nothing to do")

// taskPurchase reads the purchase of a task and opens the store in which it was made.
func (s *Service) taskPurchase(ctx context.Context, payload []byte) (p addondb.Purchase, store Store, selling iap.Selling, token string, err error) {
	var ref purchaseRef
	if err := json.Unmarshal(payload, &ref); err != nil {
		return p, nil, selling, "", fmt.Errorf("membership: the payload of a task: %w", err)
	}
	p, store, selling, token, err = s.storePurchase(ctx, ref.Purchase)
	if fault.HasKind(err, countersign.KindNotFound) || fault.HasCode(err, "token_lost") || fault.HasCode(err, codeOtherStore) {
		err = errNothingToDo
	}
	return p, store, selling, token, err
}

// doReread reads a purchase again.
func (s *Service) doReread(ctx context.Context, payload []byte) (again time.Time, err error) {
	_, store, selling, token, err := s.taskPurchase(ctx, payload)
	if err == nil {
		_, err = s.readAndApply(ctx, store, selling, token, request{cause: causeSchedule})
	}
	return time.Time{}, s.taskError(err)
}

// taskError leaves out what trying again can't change, and has the rest tried again.
func (s *Service) taskError(err error) error {
	switch {
	case err == nil, errors.Is(err, errNothingToDo):
		return nil
	case fault.HasCode(err, "conflict"):
		return fault.WithCause(fault.Unavailable("store_unavailable", "The purchase is being changed"), err)
	case fault.Of(err) != nil && !fault.IsUnavailable(err): // the store's final answer
		return nil
	}
	return err
}

// doGrantEnd derives a membership again when a grant has ended.
func (s *Service) doGrantEnd(ctx context.Context, payload []byte) (again time.Time, err error) {
	var g grantEnd
	if err := json.Unmarshal(payload, &g); err != nil {
		return time.Time{}, fmt.Errorf("membership: the payload of a task: %w", err)
	}
	return time.Time{}, s.tx(ctx, func(tx *txn) error {
		user, err := tx.GrantUser(ctx, g.Grant) // a merge may have moved it
		if err != nil {
			return ignoreNotFound(err)
		}
		return s.recompute(ctx, tx, change{}, user)
	})
}

// doWatch confirms with the store that a purchase has ended, before its access ends (6.5).
// While the store does not answer, access continues for the leeway.
func (s *Service) doWatch(ctx context.Context, payload []byte) (again time.Time, err error) {
	p, store, selling, token, err := s.taskPurchase(ctx, payload)
	if errors.Is(err, errNothingToDo) && p.ID == 0 {
		return time.Time{}, nil
	}
	if p.ID != 0 && (isForEver(p) || p.Access && s.now().Before(p.ExpiresAt.Time)) { // it was paid or renewed meanwhile
		again, _ = s.nextCheck(p)
		return again, nil
	}
	if err == nil {
		_, err = s.readAndApply(ctx, store, selling, token, request{cause: causeSchedule})
	}
	if err != nil {
		if fault.Of(err) == nil && !errors.Is(err, errNothingToDo) { // a purchase whose token is lost ends, too
			return time.Time{}, err
		}
		if err := s.suspendOverdue(ctx, p); err != nil {
			return time.Time{}, err
		}
	}
	if p, err = s.db.Purchase(ctx, p.Name); err != nil {
		return time.Time{}, err
	}
	again, more := s.nextCheck(p)
	if !more {
		again = time.Time{}
	}
	return again, nil
}

// suspendOverdue ends the access from a purchase that could not be confirmed within the leeway.
func (s *Service) suspendOverdue(ctx context.Context, p addondb.Purchase) error {
	selling, err := s.selling(ctx)
	if err != nil {
		return err
	}
	return s.tx(ctx, func(tx *txn) error {
		p, err := tx.LockPurchase(ctx, p.Name)
		if err != nil || !p.Access || s.now().Before(p.ExpiresAt.Add(selling.Leeway)) {
			return err
		}
		return s.end(ctx, tx, p, causeUnverified)
	})
}

// doSweep spreads re-reads of the purchases without news over a day, and removes old
// notifications (6.6).
func (s *Service) doSweep(ctx context.Context, _ []byte) (again time.Time, err error) {
	const limit, spread, retention = 50_000, 23 * time.Hour, 30 * 24 * time.Hour
	stale, err := s.db.StalePurchases(ctx, at(s.now().Add(-entitle.StaleAfter)), limit)
	if err != nil {
		return time.Time{}, err
	}
	tasks := make([]jobs.Task, len(stale))
	for i, purchase := range stale {
		tasks[i] = purchaseTask(KindReread, purchase, s.now().Add(spread*time.Duration(i)/time.Duration(len(stale))))
	}
	if err := s.putAll(ctx, tasks); err != nil {
		return time.Time{}, err
	}
	return s.now().Add(24 * time.Hour), s.db.PruneInbox(ctx, sqldb.Time{Time: s.now().Add(-retention)})
}
