package simulator

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/membership"
	"github.com/countersign/countersign/internal/jobs"
)

const (
	// KindTick is the kind of the task that lets happen what happens by itself, with the key
	// of the tasks that repeat.
	KindTick = "iap.simulate"
	// tickEvery is how often the store is looked at, at least, while it has purchases.
	tickEvery = time.Hour
)

// Tick lets happen what became due on the store's clock. It returns when to look again, zero for a store in which nothing
// happens by itself. A store that an earlier version left behind after test mode is emptied.
func (s *Service) Tick(ctx context.Context, _ []byte) (again time.Time, err error) {
	selling, err := s.Selling(ctx)
	if err != nil {
		return time.Time{}, err
	}
	if !selling.Simulated {
		return time.Time{}, s.db.Tx(ctx, func(tx *addondb.DB) error {
			if on, err := isOn(ctx, tx); err != nil || on {
				return err
			}
			return s.forget(ctx, tx)
		})
	}
	st, due, err := s.read(ctx, selling)
	if err != nil {
		return time.Time{}, err
	}
	if due {
		_, err := s.change(ctx, selling, 0, func(_ *addondb.DB, now *state) error { st = now; return nil })
		if err != nil {
			return time.Time{}, err
		}
	}
	next, full := st.store.Next(), st.full()
	if full != nil {
		s.Log.Warn("nothing happens in test mode", "cause", full)
	}
	switch {
	case next.IsZero():
		return time.Time{}, nil
	case full != nil:
		return s.now().Add(tickEvery), nil
	}
	return s.due(st, next), nil
}

// Handle has a queue do the task that repeats.
func (s *Service) Handle(q *jobs.Queue) {
	q.Handle(KindTick, jobs.Kind{Work: jobs.Repeating(s.Tick), Lease: membership.Lease, Retries: membership.SlowRetries(), Forever: true})
}

// put puts the task that repeats.
func (s *Service) put(ctx context.Context, tx *addondb.DB, due time.Time) error {
	return jobs.Put(ctx, tx.Queries, jobs.Task{Kind: KindTick, Key: membership.RepeatingKey, Due: due}, s.access.Now())
}

// Start puts the task that repeats. It is called once when a server starts.
func (s *Service) Start(ctx context.Context) error {
	sealed, err := s.db.Simulator(ctx)
	if err != nil || len(sealed) == 0 {
		return err
	}
	return s.db.Tx(ctx, func(tx *addondb.DB) error { return s.put(ctx, tx, s.now()) })
}
