package license

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/input"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// PurchaseCode is a purchase code that is kept, encrypted. It is never shown again.
type PurchaseCode struct {
	ID int64
	// Hint is what lists show of it: its ends.
	Hint string
	// Store is the address of the store for which it was typed; it is sent to no other.
	Store  string
	KeptAt time.Time
}

func purchaseCodeOf(c addondb.PurchaseCode) PurchaseCode {
	return PurchaseCode{ID: c.ID, Hint: c.Hint, Store: oneStore(c.Store), KeptAt: c.KeptAt.Time}
}

// storedCode is a kept purchase code that was opened, with the only store that it
// may be sent to.
type storedCode struct {
	id          int64
	code, store string
}

// orderCode returns the code of an order. One that was typed is kept for the store
// of the order; one that is kept goes to its own store, and an order that names
// another one is refused.
func (s *Service) orderCode(ctx context.Context, o Order) (c storedCode, err error) {
	if o.Kept == 0 {
		c = storedCode{code: o.Code, store: o.Store}
		err = s.db.Tx(ctx, func(tx *addondb.DB) (err error) {
			c.id, err = s.keepCode(ctx, tx, c)
			return err
		})
		return c, err
	}
	c, err = s.keptCode(ctx, o.Kept)
	if err == nil && o.Store != "" && o.Store != c.store {
		return storedCode{}, input.Invalid("code_of_other_store", map[string]string{
			"code": "This stored purchase code is for " + c.store + " only. Enter that address below, or enter the purchase code again to use it at " + o.Store,
		})
	}
	return c, err
}

// keepCode keeps a purchase code for a store, or finds the one that is kept already.
// Letter case makes no other code.
func (s *Service) keepCode(ctx context.Context, tx *addondb.DB, c storedCode) (int64, error) {
	rows, err := tx.PurchaseCodes(ctx)
	if err != nil {
		return 0, err
	}
	for _, row := range rows {
		if oneStore(row.Store) != c.store {
			continue
		}
		if stored, err := s.openCode(row); err == nil && strings.EqualFold(stored, c.code) {
			return row.ID, nil
		}
	}
	hint := codeHint(c.code)
	id, err := tx.AddPurchaseCode(ctx, addondb.PurchaseCode{
		Hint: hint, Store: c.store, Sealed: s.access.Box().Seal(codePurpose(hint), []byte(c.code)), KeptAt: s.access.Timestamp(),
	})
	if err != nil {
		return 0, err
	}
	return id, s.access.SameKeyFile(ctx, tx.Queries)
}

// codePurpose binds a sealed code to what is shown of it.
func codePurpose(hint string) string { return "addon purchase code " + hint }

var noCode = fault.NotFound("purchase_code_not_kept", "This purchase code is no longer stored. Paste it again")

func (s *Service) openCode(row addondb.PurchaseCode) (string, error) {
	code, err := s.access.Box().Open(codePurpose(row.Hint), row.Sealed)
	if err != nil {
		return "", fault.Conflict("purchase_code_not_kept", "The stored purchase code can't be read: it was encrypted with another key file. Paste it again")
	}
	return string(code), nil
}

// keptCode opens a purchase code that is kept.
func (s *Service) keptCode(ctx context.Context, id int64) (storedCode, error) {
	row, err := s.db.PurchaseCode(ctx, id)
	if err != nil {
		return storedCode{}, sqldb.IfNotFound(err, noCode)
	}
	code, err := s.openCode(row)
	return storedCode{id, code, oneStore(row.Store)}, err
}

// afterRefusal returns err, the refusal of a store. It forgets a code that the store
// does not know, unless a license is of it, and keeps the address of a store that
// does know it.
func (s *Service) afterRefusal(ctx context.Context, actor people.Actor, c storedCode, err error) error {
	apiErr := fault.Of(err)
	if apiErr == nil || apiErr.Code != countersign.CodePurchaseNotFound && !answered[apiErr.Code] {
		return err
	}
	failed := s.db.Tx(ctx, func(tx *addondb.DB) error {
		if answered[apiErr.Code] {
			return s.setStore(ctx, tx, actor, c.store)
		}
		return tx.DeleteUnusedCode(ctx, c.id)
	})
	if failed != nil {
		return errors.Join(err, failed)
	}
	return err
}
