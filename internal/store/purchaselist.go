package store

import (
	"context"

	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/store/validation"
)

// PurchasePage is a page of a list of purchases, newest first.
type PurchasePage struct {
	Purchases []Purchase
	// Newer and Older report whether there are more on either side.
	Newer, Older bool
	// Count is how many purchases the filter wants, [MaxCount] at most.
	Count int64
}

// MaxCount is up to where a list is counted: counting a million takes longer than reading a
// page.
const MaxCount = 10_000

// PurchasePlace is where a page of a list is: behind the purchase with the id After, or
// before that with the id Before, or at the newest.
type PurchasePlace struct{ After, Before int64 }

// ListPurchases reads a page of a workspace's purchases. f.Limit is how many it has at most.
// A place whose purchase does not exist in the workspace is purchase_not_found.
func (s *Store) ListPurchases(ctx context.Context, a people.Actor, workspace string, f PurchaseFilter, at PurchasePlace) (PurchasePage, error) {
	w, err := s.Workspace(ctx, a, workspace)
	if err != nil {
		return PurchasePage{}, err
	}
	sees, err := access.SeesBuyers(ctx, s.db, a, w.ID)
	if err != nil {
		return PurchasePage{}, err
	}
	page := PurchasePage{Newer: at.After != 0, Older: at.Before != 0}
	if page.Count, err = s.db.CountPurchases(ctx, w.ID, f, MaxCount); err != nil {
		return PurchasePage{}, err
	}
	if err := s.readPurchases(ctx, w, f, at, &page); err != nil {
		return PurchasePage{}, err
	}
	for i := range page.Purchases {
		if !sees {
			page.Purchases[i].BuyerEmail = ""
		}
	}
	return page, nil
}

// readPurchases reads the page and one more row, which says whether it is the last.
func (s *Store) readPurchases(ctx context.Context, w Workspace, f PurchaseFilter, at PurchasePlace, page *PurchasePage) error {
	limit := f.Limit
	f.Limit++
	if at == (PurchasePlace{}) {
		err := s.db.Purchases(ctx, w.ID, f, func(p Purchase) error {
			page.Purchases = append(page.Purchases, p)
			return nil
		})
		page.cutEnd(limit)
		return err
	}
	id, read := at.After, s.db.OlderPurchases
	if at.Before != 0 {
		id, read = at.Before, s.db.NewerPurchases
	}
	than, err := s.db.PurchaseByID(ctx, id)
	if err == nil && than.WorkspaceID != w.ID {
		err = sqldb.ErrNotFound
	}
	if err != nil {
		return sqldb.IfNotFound(err, validation.NoPurchase(id))
	}
	if page.Purchases, err = read(ctx, f, than); at.Before == 0 {
		page.cutEnd(limit)
	} else if page.Newer = len(page.Purchases) > limit; page.Newer {
		page.Purchases = page.Purchases[1:]
	}
	return err
}

// cutEnd drops the row behind the page.
func (p *PurchasePage) cutEnd(limit int) {
	if p.Older = len(p.Purchases) > limit; p.Older {
		p.Purchases = p.Purchases[:limit]
	}
}

// PurchaseStates are the states of a purchase, for a choice.
func PurchaseStates() []State {
	return []State{storedb.StateActive, storedb.StateRefunded, storedb.StateChargedBack, storedb.StateRevoked}
}
