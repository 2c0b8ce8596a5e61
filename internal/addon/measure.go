package addon

import (
	"context"

	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/addon/membership"
	"github.com/countersign/countersign/internal/usage"
)

// Figures are what metrics say of an addon alone.
type Figures struct {
	Members  membership.Figures
	Webhooks events.Figures
}

// Measure reads the figures for metrics.
func (a *Addon) Measure(ctx context.Context) (f Figures, err error) {
	if err = a.access.Ready(); err != nil {
		return f, err
	}
	if f.Members, err = a.Members.Measure(ctx); err != nil {
		return f, err
	}
	f.Webhooks, err = a.Events.Measure(ctx)
	return f, err
}

// AppRequests is how many requests of apps wait to be written.
func (a *Addon) AppRequests() (f usage.Figures) {
	for of := range addresses {
		f.Waiting += a.requests[of].Load()
	}
	f.Unconfirmed = a.requestsUnconfirmed.Load()
	return f
}
