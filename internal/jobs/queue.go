package jobs

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/google/uuid"
)

const (
	// leaseTime is how long after the death of a process its job is run again.
	leaseTime = 30 * time.Second
	// maxAttempts is how often a job is begun: one that ends its process does so no more often.
	maxAttempts = 5
	pollTime    = 5 * time.Second
)

// Kind is what is to be done with jobs of a kind.
type Kind struct {
	// Work does a job. What it returns is the result of a job that it did not finish by
	// [Run.Finish]. ctx ends when the job is cancelled. An error of kind Unavailable has the
	// job run again later; [ErrElsewhere] leaves it to other processes.
	Work func(ctx context.Context, r *Run) (result any, err error)
	// Ended is called when a job has ended in any way, and perhaps again after a restart.
	Ended func(Job)
}

// ErrElsewhere means that this process can't do a job, but another one may.
var ErrElsewhere = errors.New("jobs: the job belongs to another process")

var (
	errCancelled = errors.New("jobs: the job was cancelled")
	errLost      = errors.New("jobs: another process runs the job")
	errStopped   = errors.New("jobs: the process stops")
)

// Queue runs jobs, one at a time. Its methods may be called from many goroutines.
type Queue struct {
	db    *sqldb.DB
	now   func() time.Time
	log   *slog.Logger
	kinds map[string]Kind
	wake  chan struct{}

	mu        sync.Mutex
	running   *Run           // nil while nothing runs
	elsewhere map[int64]bool // jobs for other processes
}

// New returns a queue without kinds.
func New(db *sqldb.DB, now func() time.Time, log *slog.Logger) *Queue {
	return &Queue{db: db, now: now, log: log, kinds: map[string]Kind{}, wake: make(chan struct{}, 1), elsewhere: map[int64]bool{}}
}

// Handle adds a kind of job. Call it before Run.
func (q *Queue) Handle(name string, k Kind) { q.kinds[name] = k }

// Wake has a job that was added run at once.
func (q *Queue) Wake() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Run runs jobs until ctx ends.
func (q *Queue) Run(ctx context.Context) {
	for {
		ran, err := q.RunNext(ctx)
		if err != nil && ctx.Err() == nil && !fault.IsUnavailable(err) {
			q.log.Error("a job could not be begun or ended", "cause", err)
		}
		if ran && err == nil {
			continue
		}
		if !group.Sleep(ctx, pollTime, q.wake) {
			return
		}
	}
}

// RunNext runs the next job. It returns false when there is none.
func (q *Queue) RunNext(ctx context.Context) (ran bool, err error) {
	job, err := q.next(ctx)
	if errors.Is(err, sqldb.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	r := &Run{Job: job, queue: q, lease: uuid.NewString()}
	taken, err := r.take(ctx)
	if err != nil || !taken {
		return taken, err
	}
	return true, r.do(ctx)
}

// open is true for jobs that may be begun at the time $1: queued ones, and those whose
// process has died.
const open = `ended_at IS NULL AND (state = 'queued' AND run_at <= $1 OR state = 'running' AND lease_until < $1)`

// next finds the job to run next, or returns [sqldb.ErrNotFound].
func (q *Queue) next(ctx context.Context) (Job, error) {
	all, err := sqldb.List(ctx, q.db.Queries(), scanJob, selectJobs+`WHERE `+open+` ORDER BY id`, sqldb.Time{Time: q.now()})
	if err != nil {
		return Job{}, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, job := range all {
		if _, handled := q.kinds[job.Kind]; handled && !q.elsewhere[job.ID] {
			return job, nil
		}
	}
	return Job{}, sqldb.ErrNotFound
}

// Cancel ends a job that has not ended; did is called in its transaction. A job that is
// running can't finish any more. ended is true when it had ended before.
func (q *Queue) Cancel(ctx context.Context, kind string, id int64, did func(tx sqldb.Queries) error) (ended bool, err error) {
	q.mu.Lock()
	if q.running != nil && q.running.ID == id { // on SQLite, its transaction would let none of ours begin
		q.running.stop(errCancelled)
	}
	q.mu.Unlock()
	err = q.db.Tx(ctx, func(tx sqldb.Queries) error {
		changed, err := tx.Exec(ctx, `UPDATE jobs SET state = 'cancelled', lease = '', ended_at = $1
			WHERE id = $2 AND kind = $3 AND ended_at IS NULL`, sqldb.Time{Time: q.now()}, id, kind)
		if err == nil && changed > 0 {
			return did(tx)
		}
		ended = err == nil
		return err
	})
	if err != nil || ended {
		return ended, err
	}
	job, err := Find(ctx, q.db.Queries(), kind, id)
	if err == nil {
		q.ended(job)
	}
	return false, err
}

func (q *Queue) ended(job Job) {
	if end := q.kinds[job.Kind].Ended; end != nil {
		end(job)
	}
}
