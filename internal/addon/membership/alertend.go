package membership

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/play"
	"github.com/countersign/countersign/internal/sqldb"
)

// endAlertsWait is how long after a change alerts are examined, so that several changes are one examination.
const endAlertsWait = 2 * time.Second

func (s *Service) putEndAlerts(ctx context.Context, tx *addondb.DB) error {
	return s.put(ctx, tx, jobs.Task{Kind: KindSilence, Key: RepeatingKey, Due: s.now().Add(endAlertsWait)})
}

// endAlertsOf ends the alerts whose causes a change of a purchase ends.
func (s *Service) endAlertsOf(ctx context.Context, tx *addondb.DB, row, next addondb.Purchase) error {
	if !row.AcknowledgeSince.IsZero() && next.AcknowledgeSince.IsZero() {
		if err := s.resolve(ctx, tx, alertUnacknowledged, next.Name); err != nil {
			return err
		}
	}
	if row.ID != 0 && row.State != next.State && !entitle.IsKnown(play.State(row.State)) {
		return s.putEndAlerts(ctx, tx)
	}
	return nil
}

// endAlerts ends the open alerts whose causes have ended.
func (s *Service) endAlerts(ctx context.Context) error {
	selling, err := s.selling(ctx)
	if err != nil {
		return err
	}
	open, err := s.db.OpenAlerts(ctx)
	if err != nil {
		return err
	}
	for _, a := range open {
		ended, err := s.hasEnded(ctx, selling, a)
		if err == nil && ended {
			err = s.resolve(ctx, s.db, a.Kind, a.Subject)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hasEnded reports whether the cause of an alert has ended. Those of others are resolved where they end.
func (s *Service) hasEnded(ctx context.Context, selling iap.Selling, a addondb.Alert) (bool, error) {
	const day = 24 * time.Hour
	quiet := s.now().Sub(a.LastAt.Time) // for so long the cause has not come again
	switch a.Kind {
	case alertNotAuthorised: // the store is asked each hour, by some process
		return selling.Application == "" || selling.ServiceAccount == nil || quiet > day, nil
	case alertRefused: // what is refused is tried again each day
		return quiet > 2*day, nil
	case alertPull:
		return selling.PullSubscription == "" || selling.ServiceAccount == nil, nil
	case alertNotMapped:
		return selling.Packages[a.Subject] != 0, nil
	case alertProduct:
		return selling.Packages[a.Subject] == 0, nil
	case alertApplication:
		return a.Subject == selling.Application || quiet > 2*day, nil
	case alertNotification: // the inbox is kept for 30 days
		return isKnownNotification(a.Subject) || quiet > 30*day, nil
	case alertRefundReview:
		return quiet > reviewTime, nil
	case alertUnknownState:
		has, err := s.db.HasState(ctx, a.Subject)
		return !has || entitle.IsKnown(play.State(a.Subject)), err
	case alertUnacknowledged:
		p, err := s.db.Purchase(ctx, a.Subject)
		return errors.Is(err, sqldb.ErrNotFound) || err == nil && p.AcknowledgeSince.IsZero(), ignoreNotFound(err)
	}
	return false, nil
}

// isKnownNotification reports whether this version knows the code or the kind of a notification.
func isKnownNotification(subject string) bool {
	code, err := strconv.ParseInt(subject, 10, 64)
	return err == nil && codeNames[code] != "" || isKnownKind(play.NotificationKind(subject))
}
