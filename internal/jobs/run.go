package jobs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/sqldb"
)

// renewTime is how often the progress of a run is written, with its lease.
const renewTime = time.Second

// Run is a job that is being done.
type Run struct {
	Job
	queue *Queue
	kind  Kind
	lease string
	stop  context.CancelCauseFunc

	mu       sync.Mutex
	progress []byte
	reported bool // since the progress was written
}

// Report has the progress of a job written within a second. Of several reports, the last counts.
func (r *Run) Report(progress any) {
	text, err := json.Marshal(progress)
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress, r.reported = text, true
}

// ReportNow is Report, and has the progress written at once. Call it outside of a transaction.
func (r *Run) ReportNow(ctx context.Context, progress any) {
	r.Report(progress)
	r.renew(ctx)
}

// change changes the job's row, as long as this run has the lease. The first argument of ours is $3.
func (r *Run) change(ctx context.Context, tx sqldb.Queries, set string, args ...any) error {
	changed, err := tx.Exec(ctx, `UPDATE jobs SET `+set+` WHERE id = $1 AND lease = $2 AND state = 'running'`, append([]any{r.ID, r.lease}, args...)...)
	if err == nil && changed == 0 {
		return errLost
	}
	return err
}

// Repeating returns work that is done again at the time that do returns; zero is for not again.
func Repeating(do func(ctx context.Context, payload []byte) (again time.Time, err error)) func(context.Context, *Run) (any, error) {
	return func(ctx context.Context, r *Run) (any, error) {
		again, err := do(ctx, r.Payload)
		if err != nil || again.IsZero() {
			return nil, err
		}
		return nil, r.queue.db.Tx(ctx, func(tx sqldb.Queries) error {
			return Put(ctx, tx, Task{Kind: r.Kind, Key: r.Key, Payload: json.RawMessage(r.Payload), Due: again}, r.queue.now())
		})
	}
}

// take leases a job. It returns nil when another process was faster, or the job ended its
// process too often.
func (q *Queue) take(ctx context.Context, kind string, id int64) (r *Run, err error) {
	now := sqldb.Time{Time: q.now()}
	r = &Run{queue: q, kind: q.kinds[kind], lease: uuid.NewString()}
	failed := false
	err = q.db.Tx(ctx, func(tx sqldb.Queries) (err error) {
		r.Job, err = sqldb.One(ctx, tx, scanJob, `UPDATE jobs SET state = 'running', attempts = attempts + 1, lease = $2, run_at = $3,
			interrupted = interrupted + CASE WHEN state = 'running' THEN 1 ELSE 0 END
			WHERE id = $4 AND ended_at IS NULL AND run_at <= $1 RETURNING `+columns,
			now, r.lease, sqldb.Time{Time: now.Add(r.kind.lease())}, id)
		if err != nil || r.interrupted < maxAttempts {
			return err
		}
		failed = true
		return r.interruptedTooOften(ctx, tx)
	})
	if errors.Is(err, sqldb.ErrNotFound) {
		return nil, nil
	}
	if err == nil && failed {
		if job, known := r.tellEnd(ctx); known {
			q.count(job)
		}
		return nil, nil
	}
	return r, err
}

// interruptedTooOften counts as a failure in the schedule of the kind, if it has one.
func (r *Run) interruptedTooOften(ctx context.Context, tx sqldb.Queries) error {
	reason := fault.Conflict("job_interrupted", fmt.Sprintf("The job was interrupted %d times", maxAttempts))
	if len(r.kind.Retries) == 0 {
		return r.Fail(ctx, tx, reason)
	}
	_, _, err := r.Retry(ctx, tx, time.Time{}, reason)
	return err
}

// do does the job and writes how it ended.
func (r *Run) do(parent context.Context) error {
	ctx, stop := context.WithCancelCause(context.WithoutCancel(parent))
	defer stop(nil)
	defer context.AfterFunc(parent, func() { stop(errStopped) })()
	q := r.queue
	r.stop = stop
	q.started(r)
	defer q.stopped(r)
	renewing, end := context.WithCancel(ctx)
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		r.keepLease(renewing)
	}()
	var result any
	err := group.Contain(q.log, "job "+r.Kind, func() (err error) {
		result, err = r.kind.Work(ctx, r)
		return err
	})
	end()
	<-renewed
	return r.end(context.WithoutCancel(parent), context.Cause(ctx), result, err)
}

func (q *Queue) started(r *Run) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running[r.ID] = r
}

func (q *Queue) stopped(r *Run) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.running[r.ID] == r {
		delete(q.running, r.ID)
	}
}

// keepLease renews the lease when a third of it has passed, or when there is progress to write.
func (r *Run) keepLease(ctx context.Context) {
	third, passed := r.kind.lease()/3, time.Duration(0)
	group.Every(ctx, renewTime, func(ctx context.Context) {
		r.mu.Lock()
		reported := r.reported
		r.mu.Unlock()
		if passed += renewTime; reported || passed >= third {
			passed = 0
			r.renew(ctx)
		}
	})
}

// renew writes the progress and renews the lease. While the database does not answer, or the
// job's own transaction is the only writer, it tries again.
func (r *Run) renew(ctx context.Context) {
	r.mu.Lock()
	progress := bytes.Clone(r.progress)
	r.reported = false
	r.mu.Unlock()
	err := r.queue.db.Tx(ctx, func(tx sqldb.Queries) error {
		return r.change(ctx, tx, `progress = $3, run_at = $4`, string(progress), sqldb.Time{Time: r.queue.now().Add(r.kind.lease())})
	})
	if errors.Is(err, errLost) {
		r.stop(errLost)
		return
	}
	if err != nil {
		r.mu.Lock()
		r.reported = true
		r.mu.Unlock()
	}
}
