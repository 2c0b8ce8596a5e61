package membership

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/play"
)

const (
	alertProduct = "product_not_in_store"
	alertSilence = "notifications_silent"
)

// doCatalogue compares the product map with the store's catalogue (6.6, spec 2.7).
func (s *Service) doCatalogue(ctx context.Context, _ []byte) (again time.Time, err error) {
	next := s.now().Add(24 * time.Hour)
	store, selling, err := s.open(ctx)
	if fault.HasCode(err, codeNotConfigured) {
		return next, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	products, err := catalogue(ctx, store, selling)
	note := s.noteCall(ctx, callProducts, selling, err)
	if err != nil {
		return time.Time{}, errors.Join(fault.WithCause(fault.Unavailable("store_unavailable", "The store's catalogue can't be read"), err), note)
	}
	if note != nil {
		return time.Time{}, note
	}
	return next, s.db.Tx(ctx, func(tx *addondb.DB) error {
		if !selling.Simulated {
			if err := setPlans(ctx, tx, products); err != nil {
				return err
			}
		}
		for _, id := range slices.Sorted(maps.Keys(selling.Packages)) {
			var err error
			if problem := productProblem(id, selling, products); problem != "" {
				err = s.raise(ctx, tx, alertProduct, id, problem)
			} else {
				err = s.resolve(ctx, tx, alertProduct, id)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// setPlans writes the base plans of the catalogue, for the numbers.
func setPlans(ctx context.Context, tx *addondb.DB, products []play.Product) error {
	for _, p := range products {
		plans := slices.SortedFunc(slices.Values(p.BasePlans), func(a, b play.BasePlan) int { return cmp.Compare(a.ID, b.ID) })
		for _, plan := range plans {
			if plan.Period == "" { // that of a one-time product has none
				continue
			}
			if err := tx.SetPlan(ctx, p.ID, plan.ID, plan.Period); err != nil {
				return err
			}
		}
	}
	return nil
}

// productProblem is what is wrong with a product in the catalogue, "" for nothing.
func productProblem(id string, selling iap.Selling, products []play.Product) string {
	_, once := selling.OneTime[id]
	i := slices.IndexFunc(products, func(p play.Product) bool { return p.ID == id && p.OneTime == once })
	switch {
	case i < 0 && once:
		return fmt.Sprintf("The store has no one-time product %s", id)
	case i < 0:
		return fmt.Sprintf("The store has no product %s", id)
	case !slices.ContainsFunc(products[i].BasePlans, func(b play.BasePlan) bool { return b.State == "active" }):
		return fmt.Sprintf("The product %s is not active in the store", id)
	}
	return ""
}

// doSilence tells people when no notifications arrive although purchases are renewed, ends
// alerts, and puts the tasks of notifications that were not processed (6.6).
func (s *Service) doSilence(ctx context.Context, _ []byte) (again time.Time, err error) {
	next := s.now().Add(time.Hour)
	if err := errors.Join(s.reputMessages(ctx), s.endAlerts(ctx)); err != nil {
		return time.Time{}, err
	}
	since := at(s.now().Add(-entitle.SilenceAlarm))
	last, err := s.db.LastMessageAt(ctx, "")
	if err != nil {
		return time.Time{}, err
	}
	renewed, err := s.db.CountHistory(ctx, causeSchedule, string(entitle.Active), since)
	if err != nil {
		return time.Time{}, err
	}
	if last.Before(since.Time) && renewed > 0 {
		return next, s.raise(ctx, s.db, alertSilence, "", "The store has sent no notifications for 48 hours, although purchases were renewed. Check the topic and its subscription")
	}
	if last.Before(since.Time) {
		if has, err := s.db.HasAccess(ctx); err != nil || has { // the next renewal shows it
			return next, err
		}
	}
	return next, s.resolve(ctx, s.db, alertSilence, "")
}

// reputMessages puts the tasks of notifications that have waited for long.
func (s *Service) reputMessages(ctx context.Context) error {
	const limit, age = 1000, 15 * time.Minute
	open, err := s.db.OpenMessages(ctx, at(s.now().Add(-age)), limit)
	if err != nil || len(open) == 0 {
		return err
	}
	return s.db.Tx(ctx, func(tx *addondb.DB) error {
		for _, m := range open {
			plain, err := s.box().Open(messagePurpose(m.MessageID), m.Sealed)
			if err != nil {
				continue // sealed with a key file that is lost
			}
			var body sealedMessage
			if err := json.Unmarshal(plain, &body); err != nil {
				return fmt.Errorf("membership: a stored notification: %w", err)
			}
			if err := s.putNotified(ctx, tx, play.Notification{MessageID: m.MessageID, Kind: play.NotificationKind(m.Kind), Token: body.Token, Package: body.Application}, m.TokenDigest, s.now()); err != nil {
				return err
			}
		}
		return nil
	})
}
