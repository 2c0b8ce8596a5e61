package membership

import (
	"context"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
)

// alertKinds are all kinds of alerts.
var alertKinds = [...]string{
	alertApplication, alertNotAuthorised, alertNotMapped, alertNotification, alertPaidTwice, alertProduct, alertPull, alertRefundReview, alertRefused, alertSilence,
	alertUnacknowledged, alertUnknownState,
}

// Figures are what metrics say of the memberships.
type Figures struct {
	// Alerts counts the open ones of each kind.
	Alerts []addondb.KindCount
	// Unacknowledged is how many purchases wait for their acknowledgement, and
	// UnacknowledgedFor for how long the first of them.
	Unacknowledged    int64
	UnacknowledgedFor time.Duration
}

// Measure reads the figures for metrics.
func (s *Service) Measure(ctx context.Context) (f Figures, err error) {
	open, err := s.db.CountOpenAlerts(ctx)
	if err != nil {
		return f, err
	}
	for _, kind := range alertKinds {
		one := addondb.KindCount{Kind: kind}
		if i := slices.IndexFunc(open, func(c addondb.KindCount) bool { return c.Kind == kind }); i >= 0 {
			one = open[i]
		}
		f.Alerts = append(f.Alerts, one)
	}
	waiting, err := s.db.CountUnacknowledged(ctx)
	if err == nil && waiting.Count > 0 {
		f.Unacknowledged, f.UnacknowledgedFor = waiting.Count, max(0, s.now().Sub(waiting.Since.Time))
	}
	return f, err
}
