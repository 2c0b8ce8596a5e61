package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/sqldb"
)

// Finish marks the job as done in the transaction of its work, so that it is never done
// twice. It is an error when the job was cancelled, or another process runs it.
func (r *Run) Finish(ctx context.Context, tx sqldb.Queries, result any) error {
	text, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("jobs: finish: %w", err)
	}
	return r.close(ctx, tx, Done, string(text), "")
}

// Fail marks the job as failed in the transaction of its work, without further attempts. reason is
// what people are told. Errors as of [Run.Finish].
func (r *Run) Fail(ctx context.Context, tx sqldb.Queries, reason error) error {
	return r.close(ctx, tx, Failed, "", r.message(reason))
}

// Retry has the job run again, in the transaction of its work, as the schedule of its kind
// says, but not before a time, which may be zero. It returns when; or false if that was
// the last attempt, and the job has failed for the reason. Errors as of [Run.Finish].
func (r *Run) Retry(ctx context.Context, tx sqldb.Queries, notBefore time.Time, reason error) (at time.Time, again bool, err error) {
	wait, again := r.kind.wait(r.failures + 1)
	if !again {
		return time.Time{}, false, r.Fail(ctx, tx, reason)
	}
	if fault.Of(reason) == nil {
		r.queue.log.Error("a job failed and is run again", "kind", r.Kind, "job", r.ID, "cause", reason)
	}
	at = r.queue.now().Add(wait)
	if at.Before(notBefore) {
		at = notBefore
	}
	err = r.change(ctx, tx, `state = 'queued', lease = '', interrupted = 0, again_at = NULL,
		run_at = CASE WHEN again_at < $3 THEN again_at ELSE $3 END,
		failures = CASE WHEN again_at IS NULL THEN failures + 1 ELSE 0 END`, sqldb.Time{Time: at})
	return at, true, err
}

// close writes that the job has ended, or has it run once more if somebody asked for that
// while it was running.
func (r *Run) close(ctx context.Context, tx sqldb.Queries, state State, result, message string) error {
	return r.change(ctx, tx, `result = $3, error = $4, lease = '', again_at = NULL,
		state = CASE WHEN again_at IS NULL THEN $5 ELSE 'queued' END,
		ended_at = CASE WHEN again_at IS NULL THEN $6 END,
		run_at = CASE WHEN again_at IS NULL THEN run_at ELSE again_at END,
		attempts = CASE WHEN again_at IS NULL THEN attempts ELSE 0 END, failures = 0, interrupted = 0`,
		result, message, string(state), sqldb.Time{Time: r.queue.now()})
}

// end writes how the work ended. cause is why its context ended, nil if it did not.
func (r *Run) end(ctx context.Context, cause error, result any, failed error) error {
	err := r.queue.db.Tx(ctx, func(tx sqldb.Queries) error {
		switch {
		case failed == nil:
			return r.Finish(ctx, tx, result)
		case errors.Is(cause, errCancelled), errors.Is(cause, errLost): // whoever did that has written it
			return nil
		case errors.Is(cause, errStopped), errors.Is(failed, ErrElsewhere):
			return r.change(ctx, tx, `state = 'queued', lease = '', attempts = attempts - 1, run_at = $3`, sqldb.Time{Time: r.queue.now()})
		case r.kind.retries(failed):
			_, _, err := r.Retry(ctx, tx, time.Time{}, failed)
			return err
		}
		return r.Fail(ctx, tx, failed)
	})
	if errors.Is(failed, ErrElsewhere) {
		r.queue.mu.Lock()
		r.queue.foreign[r.ID] = true
		r.queue.mu.Unlock()
	}
	if errors.Is(err, errLost) { // ended in the transaction of the work, or somebody has cancelled it
		err = nil
	}
	job, known := r.tellEnd(ctx)
	handedOver := errors.Is(cause, errLost) || failed != nil && errors.Is(cause, errStopped) || errors.Is(failed, ErrElsewhere)
	if known && !handedOver {
		r.queue.count(job)
	}
	return err
}

// maxMessage is how many characters of an error are kept with its job.
const maxMessage = 2000

// message is what people are told of a failure. What is not our error is logged.
func (r *Run) message(failed error) string {
	apiErr := fault.Of(failed)
	if apiErr != nil && apiErr.Kind != countersign.KindUnavailable {
		if all := []rune(apiErr.Message); len(all) > maxMessage {
			return string(all[:maxMessage]) + "…"
		}
		return apiErr.Message
	}
	r.queue.log.Error("a job failed", "kind", r.Kind, "job", r.ID, "cause", failed)
	return "The job failed; the log of the server has the cause"
}

// tellEnd calls Ended if the job has ended. It returns the job, if it could be read.
func (r *Run) tellEnd(ctx context.Context) (job Job, known bool) {
	job, err := Find(ctx, r.queue.db.Queries(), r.Kind, r.ID)
	if err == nil && !job.EndedAt.IsZero() {
		r.queue.ended(job)
	}
	return job, err == nil
}
