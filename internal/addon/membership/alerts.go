package membership

import (
	"context"
	"fmt"
	"time"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// The kinds of alerts, for those who say how to solve them.
const (
	AlertNotAuthorised  = alertNotAuthorised
	AlertRefused        = alertRefused
	AlertNotification   = alertNotification
	AlertRefundReview   = alertRefundReview // its subject is the order
	AlertApplication    = alertApplication
	AlertNotMapped      = alertNotMapped
	AlertUnknownState   = alertUnknownState
	AlertUnacknowledged = alertUnacknowledged
	AlertProduct        = alertProduct
	AlertSilence        = alertSilence
	AlertPull           = alertPull
	AlertPaidTwice      = alertPaidTwice    // its subject is the user
	AlertOwnerUnknown   = alertOwnerUnknown // its subject is the purchase
)

// Alert is something that people have to know.
type Alert struct {
	Kind, Subject   string
	Message         string
	Count           int64
	FirstAt, LastAt time.Time
}

// Alerts lists the open alerts, the oldest first.
func (s *Service) Alerts(ctx context.Context, actor people.Actor) ([]Alert, error) {
	if err := s.access.May(actor, access.ManageMembers); err != nil {
		return nil, err
	}
	rows, err := s.db.OpenAlerts(ctx)
	return sqldb.Convert(rows, func(a addondb.Alert) Alert {
		return Alert{Kind: a.Kind, Subject: a.Subject, Message: a.Message, Count: a.Count, FirstAt: a.FirstAt.Time, LastAt: a.LastAt.Time}
	}), err
}

// DismissAlert closes an alert. It opens again when its cause comes again.
func (s *Service) DismissAlert(ctx context.Context, actor people.Actor, kind, subject string) error {
	if err := s.access.May(actor, access.ManageMembers); err != nil {
		return err
	}
	return s.db.Tx(ctx, func(tx *addondb.DB) error {
		was, err := tx.Resolve(ctx, kind, subject, s.timestamp())
		if err != nil {
			return err
		}
		if !was {
			return fault.NotFound("not_found", "No such alert")
		}
		return s.access.Audit(ctx, tx, actor, people.Event{Action: access.ActionAlertDismiss, Subject: kind, Detail: subject})
	})
}

// raise tells people something. Subject tells alerts of one kind apart.
func (s *Service) raise(ctx context.Context, tx *addondb.DB, kind, subject, message string) error {
	if err := tx.Raise(ctx, addondb.Alert{Kind: kind, Subject: subject, Message: message, LastAt: s.timestamp()}); err != nil {
		return fmt.Errorf("membership: raise an alert: %w", err)
	}
	return nil
}

func (s *Service) resolve(ctx context.Context, tx *addondb.DB, kind, subject string) error {
	if _, err := tx.Resolve(ctx, kind, subject, s.timestamp()); err != nil {
		return fmt.Errorf("membership: resolve an alert: %w", err)
	}
	return nil
}

// raiseAgain is raise for an alert that resolveOnce resolves.
func (s *Service) raiseAgain(ctx context.Context, kind, subject, message string) error {
	s.resolved.Delete(alertKey{kind, subject})
	return s.raise(ctx, s.db, kind, subject, message)
}

// resolveOnce resolves an alert, unless that was done since this process raised it.
func (s *Service) resolveOnce(ctx context.Context, kind, subject string) error {
	key := alertKey{kind, subject}
	if _, done := s.resolved.LoadOrStore(key, true); done {
		return nil
	}
	err := s.resolve(ctx, s.db, kind, subject)
	if err != nil {
		s.resolved.Delete(key)
	}
	return err
}

type alertKey struct{ kind, subject string }
