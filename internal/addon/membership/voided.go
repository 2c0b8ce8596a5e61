package membership

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/play"
	"github.com/countersign/countersign/internal/sqldb"
)

const (
	// metaVoided begins the names of the times up to which the lists of voided orders were read; an application follows.
	metaVoided = "iap_voided_until "
	// voidedWindow is how far back the store's list reaches (1.9).
	voidedWindow = 30 * 24 * time.Hour
	// maxVoidedPages bounds one reading of the list: 1000 orders a page. The time up to which it was
	// read stays when there are more, so that no refund is left out.
	maxVoidedPages = 1000
)

// doVoided reads the orders that were refunded or charged back since the last success, with
// an overlap (6.6): of the store that the settings name, and of each application with purchases.
func (s *Service) doVoided(ctx context.Context, _ []byte) (again time.Time, err error) {
	selling, err := s.selling(ctx)
	if err != nil {
		return time.Time{}, err
	}
	applications, err := s.db.Applications(ctx, at(s.now().Add(-voidedWindow)))
	if err != nil {
		return time.Time{}, err
	}
	origins := []origin{{selling.Simulated, selling.Application}}
	for _, application := range applications {
		if from := (origin{Application: application}); from != origins[0] {
			origins = append(origins, from)
		}
	}
	var failed error
	for _, from := range origins {
		if err := s.readVoided(ctx, from); !fault.HasCode(err, codeNotConfigured) {
			failed = errors.Join(failed, err)
		}
	}
	return s.now().Add(time.Hour), failed
}

// readVoided reads the list of a store.
func (s *Service) readVoided(ctx context.Context, from origin) error {
	store, selling, err := s.openOrigin(ctx, from)
	if err != nil {
		return err
	}
	until, since, err := s.voidedSince(ctx, store, selling)
	if err != nil {
		return err
	}
	page := ""
	for n := 0; n == 0 || page != ""; n++ {
		if n == maxVoidedPages {
			return fault.Unavailable("store_unavailable", "The store's list of refunds does not end")
		}
		list, following, err := store.Voided(ctx, since, until, page)
		if err != nil {
			return errors.Join(fault.WithCause(fault.Unavailable("store_unavailable", "The store's list of refunds can't be read"), err), s.noteCall(ctx, callVoided, selling, err))
		}
		for _, void := range list {
			if err := s.void(ctx, void); err != nil {
				return err
			}
		}
		page = following
	}
	if err := s.noteCall(ctx, callVoided, selling, nil); err != nil {
		return err
	}
	if selling.Simulated { // it is short
		return nil
	}
	return s.db.Tx(ctx, func(tx *addondb.DB) error {
		return tx.SetMeta(ctx, metaVoided+selling.Application, until.Format(time.RFC3339))
	})
}

// voidedSince is the time that is read, on the store's clock.
func (s *Service) voidedSince(ctx context.Context, store Store, selling iap.Selling) (until, since time.Time, err error) {
	until, err = store.Now(ctx)
	if err != nil {
		return until, since, refusal(err)
	}
	earliest := until.Add(-voidedWindow + time.Hour)
	text, err := s.db.Meta(ctx, metaVoided+selling.Application)
	if err != nil || selling.Simulated {
		return until, earliest, err
	}
	last, err := time.Parse(time.RFC3339, text)
	if err != nil || last.Add(-entitle.VoidedOverlap).Before(earliest) {
		return until, earliest, nil // it was never read, or too long ago
	}
	return until, last.Add(-entitle.VoidedOverlap), nil
}

// void notes that an order of a purchase was refunded or charged back, once, and has the
// purchase read again: only the void of the current period's order ends its access (1.9).
func (s *Service) void(ctx context.Context, v play.Voided) error {
	if v.Token == "" || v.OrderID == "" {
		return nil
	}
	return s.tx(ctx, func(tx *txn) error {
		p, err := s.lockByToken(ctx, tx.DB, digestOf(s.box(), v.Token))
		if err != nil || p.ID == 0 {
			return err
		}
		known, err := tx.VoidedOrders(ctx, p.ID)
		if err != nil || slices.Contains(known, v.OrderID) {
			return err
		}
		err = tx.AddPurchaseHistory(ctx, addondb.PurchaseHistory{
			PurchaseID: p.ID, At: s.timestamp(), Cause: addondb.CauseVoided, State: p.State, Status: p.Status, ExpiresAt: p.ExpiresAt, OrderID: v.OrderID,
			Detail: fmt.Sprintf("reason %d, source %d, at %s", v.Reason, v.Source, sqldb.Time{Time: v.VoidedAt}.UTC().Format(time.RFC3339)),
		})
		if err != nil {
			return err
		}
		if err := s.appendFor(ctx, tx, events.PurchaseRefunded, p); err != nil {
			return err
		}
		return s.put(ctx, tx.DB, purchaseTask(KindReread, p.Name, s.now()))
	})
}
