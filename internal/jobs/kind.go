package jobs

import (
	"cmp"
	"context"
	"time"

	"github.com/countersign/countersign/internal/fault"
)

const (
	// leaseTime is how long after the death of a process a job is run again, and how long an
	// unavailable one waits, if its kind does not say.
	leaseTime = 30 * time.Second
	// maxAttempts is how often a job of a kind without a schedule is begun, and how often one
	// after the other may end its process.
	maxAttempts = 5
)

// Kind is what is to be done with jobs of a kind.
type Kind struct {
	// Work does a job. What it returns is the result of a job that it did not finish by
	// [Run.Finish]. ctx ends when the job is cancelled. [ErrElsewhere] leaves the job to other
	// processes. Without Retries, an error of kind Unavailable has the job run again 30 s later,
	// up to 5 times, and other errors fail it. With Retries, every error has it run again.
	Work func(ctx context.Context, r *Run) (result any, err error)
	// Ended is called when a job has ended in any way, and perhaps again after a restart.
	Ended func(Job)
	// Workers is how many jobs of the kind this process runs at a time, 1 if it is 0. Work
	// that waits for the network has several.
	Workers int
	// PerScope is how many of them may belong to one scope; 0 means any number. Work for one slow
	// receiver does not occupy all workers then.
	PerScope int
	// Lease is how long after the death of its process a job is run again, 30 s if it is 0.
	// A run renews it.
	Lease time.Duration
	// Retries are the waits after attempts that failed. A job that fails after the last wait
	// has failed, or waits as long as the last time if Forever is set.
	Retries []time.Duration
	Forever bool
}

func (k Kind) workers() int         { return max(1, k.Workers) }
func (k Kind) lease() time.Duration { return cmp.Or(k.Lease, leaseTime) }

// retries reports whether an error has a job of the kind run again.
func (k Kind) retries(failed error) bool { return len(k.Retries) > 0 || fault.IsUnavailable(failed) }

// wait returns how long a job waits after a number of failures, and false when it is not
// run again.
func (k Kind) wait(failures int64) (time.Duration, bool) {
	n := int64(len(k.Retries))
	switch {
	case n == 0:
		return leaseTime, failures < maxAttempts
	case failures <= n:
		return k.Retries[failures-1], true
	}
	return k.Retries[n-1], k.Forever
}
