package addon

import (
	"context"

	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/addon/membership"
	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/usage"
)

// MeasureFiles is that of [instance.Instance].
func (a *Addon) MeasureFiles(ctx context.Context) (health.Files, error) {
	return a.Instance.MeasureFiles(ctx)
}

// MeasureRows is that of [instance.Instance].
func (a *Addon) MeasureRows(ctx context.Context) (health.Rows, error) {
	return a.Instance.MeasureRows(ctx)
}

// Move is that of [instance.Instance].
func (a *Addon) Move(ctx context.Context, actor people.Actor, o backup.MoveOptions) (backup.Moved, error) {
	return a.Instance.Move(ctx, actor, o)
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
func (a *Addon) JobRuns() []jobs.Runs { return a.Instance.Jobs.Runs() }

// AppRequests is how many requests of apps wait to be written.
func (a *Addon) AppRequests() (f usage.Figures) {
	for of := range addresses {
		f.Waiting += a.requests[of].Load()
	}
	f.Unconfirmed = a.requestsUnconfirmed.Load()
	return f
}
