package jobs

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/sqldb"
)

// pollTime is how long a queue sleeps at most, for jobs of other processes.
const pollTime = 5 * time.Second

// topic is the topic of changes that wakes queues.
const topic = "jobs"

// ErrElsewhere means that this process can't do a job, but another one may.
var ErrElsewhere = errors.New("jobs: the job belongs to another process")

var (
	errCancelled = errors.New("jobs: the job was cancelled")
	errLost      = errors.New("jobs: another process runs the job")
	errStopped   = errors.New("jobs: the process stops")
)

// Queue runs jobs. Each kind has workers of its own, so that none waits for the jobs of
// another. Its methods may be called from many goroutines.
type Queue struct {
	db    *sqldb.DB
	now   func() time.Time
	log   *slog.Logger
	kinds map[string]Kind
	wake  chan struct{}
	sleep func(context.Context, time.Duration, <-chan struct{}) bool

	mu      sync.Mutex
	busy    map[place]int // workers, also those of all scopes of a kind
	running map[int64]*Run
	foreign map[int64]bool // jobs for other processes
	runs    map[runKey]int64
}

// New returns a queue without kinds. It watches the database, so call it before the feed of
// changes runs.
func New(db *sqldb.DB, now func() time.Time, log *slog.Logger) *Queue {
	q := &Queue{
		db: db, now: now, log: log, kinds: map[string]Kind{}, wake: make(chan struct{}, 1), sleep: group.Sleep,
		busy: map[place]int{}, running: map[int64]*Run{}, foreign: map[int64]bool{},
		runs: map[runKey]int64{},
	}
	db.Watch(sqldb.Watcher{Changed: q.changed, Lost: func() {}, Live: q.Wake})
	return q
}

func (q *Queue) changed(what, _ string) {
	if what == topic {
		q.Wake()
	}
}

// Handle adds a kind of job. Call it before Run.
func (q *Queue) Handle(name string, k Kind) { q.kinds[name] = k }

// Wake has a job that [Add] wrote run at once.
func (q *Queue) Wake() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Restart has the jobs of a kind that wait after failures begin their schedule anew.
func (q *Queue) Restart(ctx context.Context, kind string) error {
	wait, _ := q.kinds[kind].wait(1)
	due := sqldb.Time{Time: q.now().Add(wait)}
	_, err := q.db.Queries().Exec(ctx, `UPDATE jobs SET failures = 0, run_at = CASE WHEN run_at < $1 THEN run_at ELSE $1 END
		WHERE kind = $2 AND state = 'queued' AND failures > 0`, due, kind)
	q.Wake()
	return err
}

// Run runs jobs until ctx ends, and waits until they have stopped.
func (q *Queue) Run(ctx context.Context) {
	var work sync.WaitGroup
	defer work.Wait()
	for {
		next, err := q.begin(ctx, &work)
		q.report(ctx, err)
		if !q.sleep(ctx, q.until(next), q.wake) {
			return
		}
	}
}

// report logs an error of the queue itself. That the database does not answer is said elsewhere.
func (q *Queue) report(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil && !fault.IsUnavailable(err) {
		q.log.Error("a job could not be begun or ended", "cause", err)
	}
}

// until returns how long to sleep until a time, zero for a time that is not known.
func (q *Queue) until(next time.Time) time.Duration {
	if next.IsZero() {
		return pollTime
	}
	return min(pollTime, max(0, next.Sub(q.now())))
}

// RunNext runs the job that is due first, of any kind. It returns false when no job is due.
func (q *Queue) RunNext(ctx context.Context) (ran bool, err error) {
	var due []openJob
	for kind := range q.kinds {
		open, err := q.open(ctx, kind, 1)
		if err != nil {
			return false, err
		}
		due = append(due, open...)
	}
	if len(due) == 0 {
		return false, nil
	}
	first := slices.MinFunc(due, func(a, b openJob) int { return cmp.Or(a.at.Compare(b.at.Time), cmp.Compare(a.id, b.id)) })
	if first.at.After(q.now()) {
		return false, nil
	}
	r, err := q.take(ctx, first.kind, first.id)
	if err != nil || r == nil {
		return false, err
	}
	return true, r.do(ctx)
}

// keptTime is how long jobs are kept that have ended. What matters of them is kept elsewhere.
const keptTime = 24 * time.Hour

// Prune removes jobs that ended a day ago.
func (q *Queue) Prune(ctx context.Context) error {
	_, err := q.db.Queries().Exec(ctx, `DELETE FROM jobs WHERE ended_at <= $1`, sqldb.Time{Time: q.now().Add(-keptTime)})
	return err
}

// Cancel ends a job that has not ended; did is called in its transaction. A job that is
// running can't finish any more. ended is true when it had ended before.
func (q *Queue) Cancel(ctx context.Context, kind string, id int64, did func(tx sqldb.Queries) error) (ended bool, err error) {
	q.mu.Lock()
	if r := q.running[id]; r != nil { // on SQLite, its transaction would let none of ours begin
		r.stop(errCancelled)
	}
	q.mu.Unlock()
	err = q.db.Tx(ctx, func(tx sqldb.Queries) error {
		changed, err := tx.Exec(ctx, `UPDATE jobs SET state = 'cancelled', lease = '', again_at = NULL, ended_at = $1
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
