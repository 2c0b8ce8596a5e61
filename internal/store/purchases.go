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
	"github.com/countersign/countersign/internal/store/storedb"
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

// Valid is the answer to a validation that succeeded: the purchase as it is
// printed, before its item's body and after it.
type Valid struct {
	Before, ItemBody, After string
}

// ValidatePurchase answers whether a purchase code is good (spec 4.4). A code
// that is unknown, malformed or another workspace's is not told apart; what
// became of a purchase is told to the workspace's secret keys alone.
func (s *Store) ValidatePurchase(ctx context.Context, a people.Actor, text string) (Valid, error) {
	if err := may(a, validatePurchases); err != nil {
		return Valid{}, err
	}
	p, err := s.sale(ctx, a.Workspace, foldCode(lookupCode(text)))
	if !s.prepared() { // the digest was made with a key file that was replaced
		return Valid{}, s.notPrepared()
	}
	if err != nil {
		return Valid{}, sqldb.IfNotFound(err, errNoPurchase)
	}
	if !a.Secret && (a.Item != p.item || p.state != StateActive) {
		return Valid{}, s.asUnknown(ctx, a.Workspace, p)
	}
	if p.state != StateActive {
		return Valid{}, notValid("purchase_" + string(p.state))
	}
	return Valid{p.printed.Before(), p.body, p.printed.After(p.support)}, nil
}

// asUnknown says of a purchase that nobody has its code. One that was in memory would
// be told from an unknown one by the time that a lookup takes, so that is made.
func (s *Store) asUnknown(ctx context.Context, workspace int64, p sale) error {
	if !p.cached {
		return errNoPurchase
	}
	_, err := s.db.Purchase(ctx, workspace, s.box.Load().CodeDigest(lookupCode("")))
	if err != nil {
		return sqldb.IfNotFound(err, errNoPurchase)
	}
	return errNoPurchase
}

// sale is a purchase and what the API prints of it and of its item.
type sale struct {
	cachedPurchase
	cachedItem
	cached bool // the purchase was in memory
}

// sale finds a purchase of a workspace, in memory or in the database.
func (s *Store) sale(ctx context.Context, workspace int64, folded string) (sale, error) {
	key := purchaseKey{workspace, folded}
	kept, found, since := s.responses.purchases.Find(key)
	if found {
		item, err := s.item(ctx, workspace, kept.item)
		return sale{kept, item, true}, err
	}
	digest := s.box.Load().CodeDigest(folded)
	p, err := s.db.Purchase(ctx, workspace, digest)
	if err != nil {
		return sale{}, err
	}
	if err := s.sameCode(p.Code, folded, digest); err != nil {
		return sale{}, err
	}
	kept = cachedPurchase{p.Printed, p.ItemID, p.State}
	s.responses.storePurchase(key, kept, since)
	item, err := s.item(ctx, workspace, p.ItemID)
	return sale{kept, item, false}, err
}

var errNoPurchase = notValid("purchase_not_found")

func notValid(code string) *countersign.Error {
	return fault.NotFound(code, "Invalid purchase code")
}

// Check is what the operator is told of a purchase code.
type Check struct {
	Valid bool
	// Code is the machine-readable reason, as in X-Error-Code; "" when valid.
	Code string
	// Reason says in a sentence why the code is not valid.
	Reason    string
	Purchase  Purchase
	Item      Item
	Workspace string
}

// CheckPurchase tells the operator whether a code is good in any workspace, and
// if not, why. Only a failing database is an error.
func (s *Store) CheckPurchase(ctx context.Context, a people.Actor, text string) (Check, error) {
	if err := may(a, manage); err != nil {
		return Check{}, err
	}
	code, ok := cleanCode(text)
	if !ok {
		return Check{Code: "purchase_not_found", Reason: fmt.Sprintf("this can't be a purchase code: one has 1 to %d printable ASCII characters", maxCode)}, nil
	}
	digest := s.digest(code)
	p, err := s.db.PurchaseByDigest(ctx, digest)
	if errors.Is(err, sqldb.ErrNotFound) {
		return s.unknownCode(ctx, code)
	}
	if err == nil {
		err = s.sameCode(p.Code, foldCode(code), digest)
	}
	if err != nil {
		return Check{}, err
	}
	c := Check{Valid: p.State == StateActive, Purchase: p}
	if c.Item, err = s.db.Item(ctx, p.ItemID); err != nil {
		return Check{}, err
	}
	w, err := s.db.WorkspaceByID(ctx, p.WorkspaceID)
	if err != nil {
		return Check{}, err
	}
	c.Workspace = w.Account.Username
	if !c.Valid {
		c.Code, c.Reason = "purchase_"+string(p.State), stateReason(p)
	}
	return c, nil
}

func (s *Store) unknownCode(ctx context.Context, code string) (Check, error) {
	c := Check{Code: "purchase_not_found", Reason: "no purchase has this code"}
	_, _, err := s.findKey(ctx, code)
	if err == nil {
		c.Reason = "this is an API key, not a purchase code"
	}
	if err == nil || errors.Is(err, errKeyUnknown) {
		return c, nil
	}
	return Check{}, err
}

// stateReason says what became of a purchase, and when, as far as that is known.
func stateReason(p Purchase) string {
	what := map[State]string{
		StateRefunded: "this purchase was refunded", StateChargedBack: "this purchase was charged back", StateRevoked: "this purchase was revoked",
	}[p.State]
	if p.StateAt.IsZero() {
		return what
	}
	return what + " on " + p.StateAt.Format("2006-01-02")
}

// PurchaseCode returns the code of the purchase with an id, for the operator.
func (s *Store) PurchaseCode(ctx context.Context, a people.Actor, id int64) (string, error) {
	if err := may(a, manage); err != nil {
		return "", err
	}
	p, err := s.db.PurchaseByID(ctx, id)
	return p.Code, sqldb.IfNotFound(err, fault.NotFound("purchase_not_found", "No purchase "+idText(id)))
}

// idText is a purchase's id as the audit log names it.
func idText(id int64) string { return strconv.FormatInt(id, 10) }

// ShowPurchase reads one purchase, for the operator.
func (s *Store) ShowPurchase(ctx context.Context, a people.Actor, text string) (Check, error) {
	c, err := s.CheckPurchase(ctx, a, text)
	if err == nil && c.Purchase.Code == "" {
		return Check{}, fault.NotFound("purchase_not_found", "Not found: "+c.Reason)
	}
	return c, err
}

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
			return fault.NotFound("item_not_found", fmt.Sprintf("The workspace %s has no item %d", workspace, p.ItemID))
		}
		if err != nil {
			return err
		}
		setPrice(&p, item)
		if err := checkPurchase(&p); err != nil {
			return err
		}
		p.Digest = s.digest(p.Code)
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
		return 0, fault.Conflict("purchase_exists", "This purchase code is taken; codes are unique in the whole store, whatever their letters' case")
	}
	if err != nil {
		return 0, err
	}
	if err := s.sameKeyFile(ctx, tx); err != nil {
		return 0, err
	}
	return id, s.audit(ctx, tx, a, "purchase.create", workspace, idText(id), "")
}

// RefundPurchase marks a purchase as refunded. A second refund is a conflict
// that says when the first one was.
func (s *Store) RefundPurchase(ctx context.Context, a people.Actor, text string) (Purchase, error) {
	c, err := s.ShowPurchase(ctx, a, text)
	if err != nil {
		return Purchase{}, err
	}
	var p Purchase
	err = s.db.Tx(ctx, func(tx *storedb.DB) error {
		if p, err = tx.LockPurchase(ctx, c.Purchase.ID); err != nil {
			return err
		}
		if p.State != StateActive {
			return fault.Conflict("purchase_"+string(p.State), "Nothing changed: "+stateReason(p))
		}
		p.State, p.StateAt = StateRefunded, s.timestamp()
		if err := tx.SetPurchaseState(ctx, p, p.State, p.StateAt); err != nil {
			return err
		}
		return s.audit(ctx, tx, a, "purchase.refund", c.Workspace, idText(p.ID), "")
	})
	return p, err
}
