package jobs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/countersign/countersign"
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
	lease string
	stop  context.CancelCauseFunc

	mu       sync.Mutex
	progress []byte
}

// Report has the progress of a job written within a second. Of several reports, the last counts.
func (r *Run) Report(progress any) {
	text, err := json.Marshal(progress)
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress = text
}

// ReportNow is Report, and has the progress written at once. Call it outside of a transaction.
func (r *Run) ReportNow(ctx context.Context, progress any) {
	r.Report(progress)
	r.renew(ctx)
}

// Finish marks the job as done in the transaction of its work, so that it is never done
// twice. It is an error when the job was cancelled, or another process runs it.
func (r *Run) Finish(ctx context.Context, tx sqldb.Queries, result any) error {
	text, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("jobs: finish: %w", err)
	}
	return r.change(ctx, tx, `state = 'done', result = $3, lease = '', ended_at = $4`, string(text), sqldb.Time{Time: r.queue.now()})
}

// change changes the job's row, as long as this run has the lease.
func (r *Run) change(ctx context.Context, tx sqldb.Queries, set string, args ...any) error {
	changed, err := tx.Exec(ctx, `UPDATE jobs SET `+set+` WHERE id = $1 AND lease = $2 AND state = 'running'`, append([]any{r.ID, r.lease}, args...)...)
	if err == nil && changed == 0 {
		return errLost
	}
	return err
}

// take leases the job. It returns false when another process was faster, or the job was
// begun too often.
func (r *Run) take(ctx context.Context) (taken bool, err error) {
	now := r.queue.now()
	err = r.queue.db.Tx(ctx, func(tx sqldb.Queries) error {
		changed, err := tx.Exec(ctx, `UPDATE jobs SET state = 'running', attempts = attempts + 1, lease = $2, lease_until = $3
			WHERE id = $4 AND `+open, sqldb.Time{Time: now}, r.lease, sqldb.Time{Time: now.Add(leaseTime)}, r.ID)
		taken = changed > 0
		if err != nil || !taken || r.Attempts < maxAttempts {
			return err
		}
		taken = false
		return r.change(ctx, tx, `state = 'failed', error = $3, lease = '', ended_at = $4`,
			fmt.Sprintf("The job was interrupted %d times", maxAttempts), sqldb.Time{Time: now})
	})
	if err == nil && !taken {
		r.tellEnd(ctx)
	}
	return taken, err
}

// do does the job and writes how it ended.
func (r *Run) do(parent context.Context) error {
	ctx, stop := context.WithCancelCause(context.WithoutCancel(parent))
	defer stop(nil)
	defer context.AfterFunc(parent, func() { stop(errStopped) })()
	q := r.queue
	r.stop = stop
	q.setRunning(r)
	defer q.setRunning(nil)
	renewing, end := context.WithCancel(ctx)
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		group.Every(renewing, renewTime, r.renew)
	}()
	var result any
	err := group.Contain(q.log, "job "+r.Kind, func() (err error) {
		result, err = q.kinds[r.Kind].Work(ctx, r)
		return err
	})
	end()
	<-renewed
	return r.end(context.WithoutCancel(parent), context.Cause(ctx), result, err)
}

func (q *Queue) setRunning(r *Run) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running = r
}

// renew writes the progress and renews the lease. While the database does not answer, or the
// job's own transaction is the only writer, it tries again.
func (r *Run) renew(ctx context.Context) {
	r.mu.Lock()
	progress := bytes.Clone(r.progress)
	r.mu.Unlock()
	err := r.queue.db.Tx(ctx, func(tx sqldb.Queries) error {
		return r.change(ctx, tx, `progress = $3, lease_until = $4`, string(progress), sqldb.Time{Time: r.queue.now().Add(leaseTime)})
	})
	if errors.Is(err, errLost) {
		r.stop(errLost)
	}
}

// end writes how the work ended. cause is why its context ended, nil if it did not.
func (r *Run) end(ctx context.Context, cause error, result any, failed error) error {
	err := r.queue.db.Tx(ctx, func(tx sqldb.Queries) error {
		now := r.queue.now()
		switch {
		case failed == nil:
			return r.Finish(ctx, tx, result)
		case errors.Is(cause, errCancelled): // whoever cancels it writes that
			return nil
		case errors.Is(cause, errStopped), errors.Is(failed, ErrElsewhere):
			return r.change(ctx, tx, `state = 'queued', lease = '', attempts = attempts - 1, run_at = $3`, sqldb.Time{Time: now})
		case fault.IsUnavailable(failed) && r.Attempts+1 < maxAttempts:
			return r.change(ctx, tx, `state = 'queued', lease = '', run_at = $3`, sqldb.Time{Time: now.Add(leaseTime)})
		}
		return r.change(ctx, tx, `state = 'failed', error = $3, lease = '', ended_at = $4`, r.message(failed), sqldb.Time{Time: now})
	})
	if errors.Is(failed, ErrElsewhere) {
		r.queue.mu.Lock()
		r.queue.elsewhere[r.ID] = true
		r.queue.mu.Unlock()
	}
	if errors.Is(err, errLost) { // Finish was called in the transaction of the work, or somebody has cancelled it
		err = nil
	}
	r.tellEnd(ctx)
	return err
}

// maxMessage is how many characters of an error are kept with its job.
const maxMessage = 2000

// message is what people are told of a failure. What is not our error is logged.
func (r *Run) message(failed error) string {
	ours := fault.Of(failed)
	if ours != nil && ours.Kind != countersign.KindUnavailable {
		if all := []rune(ours.Message); len(all) > maxMessage {
			return string(all[:maxMessage]) + "…"
		}
		return ours.Message
	}
	r.queue.log.Error("a job failed", "kind", r.Kind, "job", r.ID, "cause", failed)
	return "The job failed; the log of the server has the cause"
}

// tellEnd calls Ended if the job has ended.
func (r *Run) tellEnd(ctx context.Context) {
	job, err := Find(ctx, r.queue.db.Queries(), r.Kind, r.ID)
	if err == nil && !job.EndedAt.IsZero() {
		r.queue.ended(job)
	}
}
