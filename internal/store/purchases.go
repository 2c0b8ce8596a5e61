package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/store/validation"
	"github.com/google/uuid"
)

// Purchase is a sale of an item.
type Purchase = storedb.Purchase

// State is what became of a purchase.
type State = storedb.State

// The states of a purchase.
const (
	StateActive      = storedb.StateActive
	StateRefunded    = storedb.StateRefunded
	StateChargedBack = storedb.StateChargedBack
	StateRevoked     = storedb.StateRevoked
)

// PurchaseFilter narrows a list of purchases.
type PurchaseFilter = storedb.PurchaseFilter

// Purchases calls fn with a workspace's purchases, newest first.
func (s *Store) Purchases(ctx context.Context, a people.Actor, workspace string, f PurchaseFilter, fn func(Purchase) error) error {
	w, err := s.Workspace(ctx, a, workspace)
	if err != nil {
		return err
	}
	return s.db.Purchases(ctx, w.ID, f, fn)
}

// CreatePurchase writes a sale. Without a code it gets a new one, without a date
// it is sold now, and without a currency its price and currency are the item's.
func (s *Store) CreatePurchase(ctx context.Context, a people.Actor, workspace string, p Purchase) (Purchase, error) {
	w, err := s.Workspace(ctx, a, workspace)
	if err != nil {
		return Purchase{}, err
	}
	if p.Code == "" {
		p.Code = uuid.NewString()
	}
	if p.SoldAt.IsZero() {
		p.SoldAt = s.timestamp()
	}
	p.WorkspaceID, p.State = w.ID, StateActive
	err = s.db.Tx(ctx, func(tx *storedb.DB) error {
		item, err := tx.Item(ctx, p.ItemID)
		if errors.Is(err, sqldb.ErrNotFound) || (err == nil && item.WorkspaceID != w.ID) {
			return fault.NotFound("item_not_found", fmt.Sprintf("No item %[2]d in the workspace %[1]s", workspace, p.ItemID))
		}
		if err != nil {
			return err
		}
		setPrice(&p, item)
		if err := rules.CheckPurchase(&p); err != nil {
			return err
		}
		p.Digest = rules.CodeDigest(s.gate.Box(), p.Code)
		p.ID, err = s.addPurchase(ctx, tx, a, workspace, p)
		return err
	})
	return p, err
}

// setPrice makes the price of a purchase without a currency the item's.
func setPrice(p *Purchase, item Item) {
	if p.Currency != "" {
		return
	}
	p.Currency = item.Currency
	switch {
	case p.Price != 0:
	case p.License == countersign.LicenseExtended:
		p.Price = item.Price.Extended
	default:
		p.Price = item.Price.Regular
	}
}

func (s *Store) addPurchase(ctx context.Context, tx *storedb.DB, a people.Actor, workspace string, p Purchase) (id int64, err error) {
	id, err = tx.AddPurchase(ctx, p)
	if errors.Is(err, sqldb.ErrExists) {
		return 0, fault.Conflict("purchase_exists", "This purchase code already exists. Codes are unique in the store and do not depend on upper and lower case")
	}
	if err != nil {
		return 0, err
	}
	if err := s.gate.SameKeyFile(ctx, tx); err != nil {
		return 0, err
	}
	return id, people.Record(ctx, &tx.DB, s.now(), a, people.Event{Action: actionCreatePurchase, Workspace: workspace, Subject: idText(id)})
}

// RefundPurchase marks a purchase as refunded. A second refund is a conflict
// that says when the first one was.
func (s *Store) RefundPurchase(ctx context.Context, a people.Actor, text string) (Purchase, error) {
	c, err := s.Validation.Show(ctx, a, text)
	if err != nil {
		return Purchase{}, err
	}
	var p Purchase
	err = s.db.Tx(ctx, func(tx *storedb.DB) error {
		if p, err = tx.LockPurchase(ctx, c.Purchase.ID); err != nil {
			return err
		}
		if p.State != StateActive {
			return fault.Conflict("purchase_"+string(p.State), "Nothing changed: "+validation.StateReason(p))
		}
		p.State, p.StateAt = StateRefunded, s.timestamp()
		if err := tx.SetPurchaseState(ctx, p, p.State, p.StateAt); err != nil {
			return err
		}
		return people.Record(ctx, &tx.DB, s.now(), a, people.Event{Action: actionRefundPurchase, Workspace: c.Workspace, Subject: idText(p.ID)})
	})
	return p, err
}

// idText is a purchase's id as the audit log names it.
func idText(id int64) string { return strconv.FormatInt(id, 10) }
