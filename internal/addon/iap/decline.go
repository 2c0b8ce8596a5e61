package iap

import (
	"context"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/people"
)

// metaDeclined is the name under which the database keeps that the site does not sell
// in the app.
const metaDeclined = "addon_no_iap"

// Declined reports whether the owner said that the site does not sell in the app.
func (s *Service) Declined(ctx context.Context, actor people.Actor) (bool, error) {
	if err := s.access.May(actor, access.ManageSettings); err != nil {
		return false, err
	}
	value, err := s.db.Meta(ctx, metaDeclined)
	return value != "", err
}

// Decline notes that the site does not sell in the app (or does after all), so
// that the checklist stops asking.
func (s *Service) Decline(ctx context.Context, actor people.Actor, declined bool) error {
	if err := s.access.May(actor, access.ManageSettings); err != nil {
		return err
	}
	value := map[bool]string{true: "1"}[declined]
	return s.db.Tx(ctx, func(tx *addondb.DB) error {
		before, err := tx.LockMeta(ctx, metaDeclined)
		if err != nil || before == value {
			return err
		}
		if err := tx.SetMeta(ctx, metaDeclined, value); err != nil {
			return err
		}
		event := people.Event{Action: access.ActionIAPDecline, Before: "sells in the app", After: "does not sell in the app"}
		if !declined {
			event = people.Event{Action: access.ActionIAPAccept, Before: event.After, After: event.Before}
		}
		return s.access.Audit(ctx, tx, actor, event)
	})
}
