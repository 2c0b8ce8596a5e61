package jobs

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
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

	mu        sync.Mutex
	busy      map[place]int // workers, also those of all scopes of a kind
	running   map[int64]*Run
	elsewhere map[int64]bool // jobs for other processes
}

// place is a kind, or one scope of it.
type place struct {
	kind  string
	scope int64 // allScopes for a kind
}

const allScopes = -1

// New returns a queue without kinds. It watches the database, so call it before the feed of
// changes runs.
func New(db *sqldb.DB, now func() time.Time, log *slog.Logger) *Queue {
	q := &Queue{
		db: db, now: now, log: log, kinds: map[string]Kind{}, wake: make(chan struct{}, 1), sleep: group.Sleep,
		busy: map[place]int{}, running: map[int64]*Run{}, elsewhere: map[int64]bool{},
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

// begin starts jobs that are due on the free workers of their kinds. It returns when the next
// one is due for which a worker is free, zero when none is known.
func (q *Queue) begin(ctx context.Context, work *sync.WaitGroup) (next time.Time, err error) {
	for _, kind := range slices.Sorted(maps.Keys(q.kinds)) {
		at, err := q.beginKind(ctx, kind, work)
		if err != nil {
			return time.Time{}, err
		}
		if next.IsZero() || !at.IsZero() && at.Before(next) {
			next = at
		}
	}
	return next, nil
}

func (q *Queue) beginKind(ctx context.Context, kind string, work *sync.WaitGroup) (next time.Time, err error) {
	for {
		free := q.free(kind)
		if free == 0 {
			return time.Time{}, nil // the worker that ends its job wakes the queue
		}
		open, err := q.open(ctx, kind, free+1)
		if err != nil {
			return time.Time{}, err
		}
		next, isSure, err := q.beginDue(ctx, open, free, work)
		if err != nil || isSure {
			return next, err
		}
	}
}

// beginDue begins those of the open jobs of a kind that are due. Others may be due that were not
// read if it is not sure.
func (q *Queue) beginDue(ctx context.Context, open []openJob, free int, work *sync.WaitGroup) (next time.Time, isSure bool, err error) {
	isSure = true
	for _, job := range open {
		if job.at.After(q.now()) {
			return job.at.Time, isSure, nil
		}
		if free == 0 {
			return time.Time{}, true, nil
		}
		if q.isFull(job.place) { // by an earlier one of this list
			isSure = false
			continue
		}
		r, err := q.take(ctx, job.kind, job.id)
		if err != nil {
			return time.Time{}, false, err
		}
		if r == nil { // another process was faster, and perhaps has all that were read
			isSure = false
			continue
		}
		free--
		q.occupy(job.place, 1)
		work.Go(func() {
			q.report(ctx, r.do(ctx))
			q.occupy(job.place, -1)
			q.Wake()
		})
	}
	return time.Time{}, isSure, nil
}

func (q *Queue) free(kind string) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.kinds[kind].workers() - q.busy[place{kind, allScopes}]
}

func (q *Queue) isFull(p place) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	most := q.kinds[p.kind].PerScope
	return most > 0 && q.busy[p] >= most
}

// fullScopes are those of a kind that have as many workers as they may have.
func (q *Queue) fullScopes(kind string) (full []any) {
	q.mu.Lock()
	defer q.mu.Unlock()
	most := q.kinds[kind].PerScope
	for p, n := range q.busy {
		if most > 0 && p.kind == kind && p.scope != allScopes && n >= most {
			full = append(full, p.scope)
		}
	}
	return full
}

func (q *Queue) occupy(p place, workers int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, p := range []place{p, {p.kind, allScopes}} {
		if q.busy[p] += workers; q.busy[p] == 0 {
			delete(q.busy, p)
		}
	}
}

// RunNext runs the job that is due first, of any kind. It returns false when there is none.
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

// openJob is a job that has not ended.
type openJob struct {
	place
	id int64
	at sqldb.Time // when it may be begun
}

// open reads which jobs of a kind may be begun first, without those for other processes and those
// of scopes that have all workers they may have.
func (q *Queue) open(ctx context.Context, kind string, most int) ([]openJob, error) {
	q.mu.Lock()
	elsewhere := maps.Clone(q.elsewhere)
	q.mu.Unlock()
	where, args := `kind = $1 AND ended_at IS NULL`, []any{kind, most + len(elsewhere)}
	if full := q.fullScopes(kind); len(full) > 0 {
		where += ` AND scope NOT IN ` + sqldb.Placeholders(1, len(full), len(args)+1)
		args = append(args, full...)
	}
	all, err := sqldb.List(ctx, q.db.Queries(), func(r sqldb.Row) (j openJob, err error) {
		j.kind = kind
		err = r.Scan(&j.id, &j.scope, &j.at)
		return j, err
	}, `SELECT id, scope, run_at FROM jobs WHERE `+where+` ORDER BY run_at, id LIMIT $2`, args...)
	return slices.DeleteFunc(all, func(j openJob) bool { return elsewhere[j.id] }), err
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
