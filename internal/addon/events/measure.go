package events

import (
	"context"
	"time"
)

// Figures are what metrics say of the webhooks.
type Figures struct {
	// Active, Failing and Paused count the webhooks. A failing one is also tried again.
	Active, Failing, Paused int64
	// FailingFor is for how long all deliveries of a webhook have failed; the longest.
	FailingFor time.Duration
}

// Measure reads the figures for metrics. A webhook that somebody paused is not counted.
func (s *Service) Measure(ctx context.Context) (f Figures, err error) {
	list, err := s.db.Webhooks(ctx)
	if err != nil {
		return f, err
	}
	for _, w := range list {
		switch {
		case Reason(w.PausedFor) == PausedByHand:
		case w.PausedFor != "":
			f.Paused++
		case !w.FailingSince.IsZero():
			f.Failing++
			f.FailingFor = max(f.FailingFor, s.access.Now().Sub(w.FailingSince.Time))
		default:
			f.Active++
		}
	}
	return f, nil
}
