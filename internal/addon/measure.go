package addon

import (
	"context"

	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/addon/membership"
	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/usage"
)

// MeasureFiles reads the figures of the data folder for metrics. It may wait for the disk.
func (a *Addon) MeasureFiles(context.Context) (health.Files, error) {
	return health.MeasureFiles(a.options.Dir, a.database), nil
}

// MeasureRows reads the figures of the database for metrics.
func (a *Addon) MeasureRows(ctx context.Context) (health.Rows, error) {
	if err := a.guard.Ready(); err != nil {
		return health.Rows{}, err
	}
	return health.MeasureRows(ctx, a.database, a.queue, a.chain)
}

// Figures are what metrics say of an addon alone.
type Figures struct {
	Members  membership.Figures
	Webhooks events.Figures
}

// Measure reads the figures for metrics.
func (a *Addon) Measure(ctx context.Context) (f Figures, err error) {
	if err = a.guard.Ready(); err != nil {
		return f, err
	}
	if f.Members, err = a.Members.Measure(ctx); err != nil {
		return f, err
	}
	f.Webhooks, err = a.Events.Measure(ctx)
	return f, err
}

// JobRuns counts the runs of jobs in this process.
func (a *Addon) JobRuns() []jobs.Runs { return a.queue.Runs() }

// AppRequests is how many requests of apps wait to be written.
func (a *Addon) AppRequests() (f usage.Figures) {
	for of := range addresses {
		f.Waiting += a.requests[of].Load()
	}
	f.Unconfirmed = a.requestsUnconfirmed.Load()
	return f
}
