package membership

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/sqldb"
)

const (
	// metaVoided is the name of the time up to which the list of voided orders was read.
	metaVoided = "iap_voided_until"
	// voidedWindow is how far back the store's list reaches (1.9).
	voidedWindow = 30 * 24 * time.Hour
	// maxVoidedPages bounds one reading of the list: 1000 orders a page. The time up to which it was
	// read stays when there are more, so that no refund is left out.
	maxVoidedPages = 1000
)

// doVoided reads the orders that were refunded or charged back since the last success, with
// an overlap (6.6).
func (s *Service) doVoided(ctx context.Context, _ []byte) (again time.Time, err error) {
	next := s.now().Add(time.Hour)
	store, selling, err := s.open(ctx)
	if fault.HasCode(err, codeNotConfigured) {
		return next, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	until, since, err := s.voidedSince(ctx, store, selling)
	if err != nil {
		return time.Time{}, err
	}
	page := ""
	for n := 0; n == 0 || page != ""; n++ {
		if n == maxVoidedPages {
			return time.Time{}, fault.Unavailable("store_unavailable", "The store's list of refunds does not end")
		}
		list, following, err := store.Voided(ctx, since, until, page)
		if err != nil {
			return time.Time{}, errors.Join(fault.WithCause(fault.Unavailable("store_unavailable", "The store's list of refunds can't be read"), err), s.noteCall(ctx, callVoided, err))
		}
		for _, void := range list {
			if err := s.void(ctx, void); err != nil {
				return time.Time{}, err
			}
		}
		page = following
	}
	if err := s.noteCall(ctx, callVoided, nil); err != nil {
		return time.Time{}, err
	}
	if selling.Simulated { // what the real store has refunded meanwhile is still to be read
		return next, nil
	}
	return next, s.db.Tx(ctx, func(tx *addondb.DB) error { return tx.SetMeta(ctx, metaVoided, until.Format(time.RFC3339)) })
}

// voidedSince is the time that is read, on the store's clock.
func (s *Service) voidedSince(ctx context.Context, store Store, selling iap.Selling) (until, since time.Time, err error) {
	until, err = store.Now(ctx)
	if err != nil {
		return until, since, refusal(err)
	}
	earliest := until.Add(-voidedWindow + time.Hour)
	text, err := s.db.Meta(ctx, metaVoided)
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
func (s *Service) void(ctx context.Context, v Void) error {
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
			Detail: fmt.Sprintf("reason %d, source %d, at %s", v.Reason, v.Source, sqldb.Time{Time: v.At}.UTC().Format(time.RFC3339)),
		})
		if err != nil {
			return err
		}
		if err := s.appendFor(ctx, tx, entitle.Refunded, p); err != nil {
			return err
		}
		return s.Put(ctx, tx.DB, purchaseTask(KindReread, p.Name, s.now()))
	})
}
