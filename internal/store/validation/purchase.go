package validation

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
)

// Valid is the answer to a validation that succeeded: the purchase as it is
// printed, before its item's body and after it.
type Valid struct {
	Before string
	Item   ItemText
	After  string
	// PurchaseID and ItemID are also set beside an error about a purchase of the workspace.
	PurchaseID, ItemID int64
}

// Validate validates a purchase code (spec 4.4). Unknown, malformed and other
// workspaces' codes have the same error. Only secret keys of the workspace learn the
// state of a purchase.
func (v *Validator) Validate(ctx context.Context, a people.Actor, text string) (Valid, error) {
	if err := access.May(a, access.ValidatePurchases); err != nil {
		return Valid{}, err
	}
	p, err := v.lookupPurchase(ctx, a.Workspace, rules.FoldCode(rules.LookupCode(text)))
	if err := v.gate.Ready(); err != nil { // the digest was made with a key file that was replaced
		return Valid{}, err
	}
	if err != nil {
		return Valid{}, sqldb.IfNotFound(err, ErrNotFound)
	}
	about := Valid{PurchaseID: p.id, ItemID: p.item}
	if !a.Secret && (a.Item != p.item || p.state != storedb.StateActive) {
		return about, v.asUnknown(ctx, a.Workspace, p)
	}
	if p.state != storedb.StateActive {
		return about, notValid("purchase_" + string(p.state))
	}
	return Valid{p.printed.before(), p.text, p.printed.after(p.support), p.id, p.item}, nil
}

// asUnknown returns the error of an unknown code. If the purchase came from the cache,
// it also runs a lookup, so that the response takes the same time as for an unknown
// code.
func (v *Validator) asUnknown(ctx context.Context, workspace int64, p purchaseWithItem) error {
	if !p.cached {
		return ErrNotFound
	}
	_, err := storedb.FindPurchase(ctx, v.db, workspace, v.gate.Box().CodeDigest(rules.LookupCode("")), foundIn)
	if err != nil {
		return sqldb.IfNotFound(err, ErrNotFound)
	}
	return ErrNotFound
}

// purchaseWithItem is a purchase and what the API prints of it and of its item.
type purchaseWithItem struct {
	cachedPurchase
	cachedItem
	cached bool // the purchase was in memory
}

// foundPurchase is a purchase that was read, with its code.
type foundPurchase struct {
	code string
	cachedPurchase
}

func foundIn(p *storedb.PurchaseText) foundPurchase {
	return foundPurchase{string(p.Code), cachedPurchase{printPurchase(p), p.ID, p.ItemID, p.State}}
}

// lookupPurchase finds a purchase of a workspace, in memory or in the database.
func (v *Validator) lookupPurchase(ctx context.Context, workspace int64, folded string) (purchaseWithItem, error) {
	key := purchaseKey{workspace, folded}
	cached, found, since := v.responses.purchases.Find(key)
	if found {
		item, err := v.item(ctx, workspace, cached.item)
		return purchaseWithItem{cached, item, true}, err
	}
	digest := v.gate.Box().CodeDigest(folded)
	p, err := storedb.FindPurchase(ctx, v.db, workspace, digest, foundIn)
	if err != nil {
		return purchaseWithItem{}, err
	}
	if err := v.SameCode(p.code, folded, digest); err != nil {
		return purchaseWithItem{}, err
	}
	v.responses.storePurchase(key, p.cachedPurchase, since)
	item, err := v.item(ctx, workspace, p.item)
	return purchaseWithItem{p.cachedPurchase, item, false}, err
}

// ErrNotFound means that no such valid purchase exists; it is of kind NotFound.
var ErrNotFound error = notValid("purchase_not_found")

func notValid(code string) *countersign.Error {
	return fault.NotFound(code, "Invalid purchase code")
}
