package validation

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
)

// Check is what somebody who sees a workspace is told of a purchase code.
type Check struct {
	Valid bool
	// Code is the machine-readable reason, as in X-Error-Code; "" when valid.
	Code string
	// Reason says in a sentence why the code is not valid.
	Reason    string
	Purchase  storedb.Purchase
	Item      storedb.Item
	Workspace string
}

// Check reports whether a code is valid in a workspace that the actor sees, and if not,
// why. Only a failing database is an error, and an actor who can see no workspace.
func (v *Validator) Check(ctx context.Context, a people.Actor, text string) (Check, error) {
	if err := access.Somewhere(a, access.View); err != nil {
		return Check{}, err
	}
	code, ok := rules.CleanCode(text)
	if !ok {
		return Check{Code: "purchase_not_found", Reason: fmt.Sprintf("invalid purchase code: expected 1 to %d printable ASCII characters", rules.MaxCode)}, nil
	}
	digest := rules.CodeDigest(v.gate.Box(), code)
	p, err := v.db.PurchaseByDigest(ctx, digest)
	if errors.Is(err, sqldb.ErrNotFound) {
		return v.unknownCode(ctx, a, code)
	}
	if err == nil {
		err = v.SameCode(p.Code, rules.FoldCode(code), digest)
	}
	if err != nil {
		return Check{}, err
	}
	c, err := v.checkPurchase(ctx, a, p)
	if fault.HasKind(err, countersign.KindNotFound) {
		return v.checkOutside(ctx, a, p)
	}
	return c, err
}

// Purchase is [Validator.Check] for the purchase with an id. A purchase that the actor does
// not see is purchase_not_found.
func (v *Validator) Purchase(ctx context.Context, a people.Actor, id int64) (Check, error) {
	p, err := v.db.PurchaseByID(ctx, id)
	if err != nil {
		return Check{}, sqldb.IfNotFound(err, NoPurchase(id))
	}
	return v.checkPurchase(ctx, a, p)
}

// checkOutside describes a code of a purchase outside the workspaces that an actor works in. A
// member of its workspace is told where it is; to everybody else it does not exist.
func (v *Validator) checkOutside(ctx context.Context, a people.Actor, p storedb.Purchase) (Check, error) {
	c := Check{Code: "purchase_not_found", Reason: "no purchase has this code"}
	a.Workspace = 0
	found, err := v.checkPurchase(ctx, a, p)
	if fault.HasKind(err, countersign.KindNotFound) {
		return c, nil
	}
	if err == nil {
		c.Reason = "this purchase belongs to the workspace " + found.Workspace
	}
	return c, err
}

// checkPurchase describes a purchase to an actor who sees its workspace.
func (v *Validator) checkPurchase(ctx context.Context, a people.Actor, p storedb.Purchase) (c Check, err error) {
	if err := access.In(ctx, v.db, a, p.WorkspaceID, access.View, NoPurchase(p.ID)); err != nil {
		return Check{}, err
	}
	sees, err := access.SeesBuyers(ctx, v.db, a, p.WorkspaceID)
	if err != nil {
		return Check{}, err
	}
	if !sees {
		p.BuyerEmail = ""
	}
	c = Check{Valid: p.State == storedb.StateActive, Purchase: p}
	if c.Item, err = v.db.Item(ctx, p.ItemID); err != nil {
		return Check{}, err
	}
	if c.Item.WorkspaceID != p.WorkspaceID {
		c.Item = storedb.Item{Item: countersign.Item{ID: p.ItemID}} // of others
	}
	w, err := v.db.WorkspaceByID(ctx, p.WorkspaceID)
	if err != nil {
		return Check{}, err
	}
	c.Workspace = w.Account.Username
	if !c.Valid {
		c.Code, c.Reason = "purchase_"+string(p.State), StateReason(p)
	}
	return c, nil
}

// unknownCode describes a code that no purchase has. That it is a key learns only who sees the
// workspace of the key.
func (v *Validator) unknownCode(ctx context.Context, a people.Actor, code string) (Check, error) {
	c := Check{Code: "purchase_not_found", Reason: "no purchase has this code"}
	k, _, err := v.keys.find(ctx, code)
	if errors.Is(err, errKeyUnknown) {
		return c, nil
	}
	if err == nil {
		err = access.In(ctx, v.db, a, k.WorkspaceID, access.View, errKeyUnknown)
	}
	switch {
	case errors.Is(err, errKeyUnknown):
		return c, nil
	case err != nil:
		return Check{}, err
	}
	c.Reason = "this is an API key, not a purchase code"
	return c, nil
}

// StateReason returns what became of a purchase, and when, as far as that is known.
func StateReason(p storedb.Purchase) string {
	what := map[storedb.State]string{
		storedb.StateRefunded: "this purchase was refunded", storedb.StateChargedBack: "this purchase was charged back", storedb.StateRevoked: "this purchase was revoked",
	}[p.State]
	if p.StateAt.IsZero() {
		return what
	}
	return what + " on " + p.StateAt.Format("2006-01-02")
}

// Code returns the code of the purchase with an id.
func (v *Validator) Code(ctx context.Context, a people.Actor, id int64) (string, error) {
	c, err := v.Purchase(ctx, a, id)
	return c.Purchase.Code, err
}

// NoPurchase is an error of kind NotFound about the id of a purchase.
func NoPurchase(id int64) error {
	return fault.NotFound("purchase_not_found", "No purchase "+strconv.FormatInt(id, 10))
}

// Show reads one purchase by its code.
func (v *Validator) Show(ctx context.Context, a people.Actor, text string) (Check, error) {
	c, err := v.Check(ctx, a, text)
	if err == nil && c.Purchase.Code == "" {
		return Check{}, fault.NotFound("purchase_not_found", "Not found: "+c.Reason)
	}
	return c, err
}
