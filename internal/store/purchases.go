package store

import (
	"cmp"
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
	sees, err := access.SeesBuyers(ctx, s.db, a, w.ID)
	if err != nil {
		return err
	}
	return s.db.Purchases(ctx, w.ID, f, func(p Purchase) error {
		if !sees {
			p.BuyerEmail = ""
		}
		return fn(p)
	})
}

// CreatePurchase writes a sale. Without a code it gets a new one, without a date
// it is sold now, and without a currency its price and currency are the item's.
func (s *Store) CreatePurchase(ctx context.Context, a people.Actor, workspace string, p Purchase) (Purchase, error) {
	if p.SoldAt.IsZero() {
		p.SoldAt = s.timestamp()
	}
	chosen := p.Code != ""
	if !chosen {
		p.Code = uuid.NewString()
	}
	err := s.db.Tx(ctx, func(tx *storedb.DB) error {
		w, err := access.Workspace(ctx, tx, a, workspace, access.Manage)
		if err != nil {
			return err
		}
		if chosen {
			if err := s.clashes.Check(a, workspace); err != nil {
				return err
			}
		}
		p.WorkspaceID, p.State = w.ID, StateActive
		item, err := tx.KeepItem(ctx, p.ItemID)
		if errors.Is(err, sqldb.ErrNotFound) || (err == nil && item.WorkspaceID != w.ID) {
			return fault.NotFound("item_not_found", fmt.Sprintf("No item %[2]d in the workspace %[1]s", workspace, p.ItemID))
		}
		if err != nil {
			return err
		}
		setPrice(&p, item)
		if err := rules.CheckSale(&p); err != nil {
			return err
		}
		p.Digest = rules.CodeDigest(s.Instance.Gate.Box(), p.Code)
		p.ID, err = s.addPurchase(ctx, tx, a, workspace, p)
		return err
	})
	if errors.Is(err, errPurchaseExists) {
		err = s.whosePurchase(ctx, a, workspace, p)
	}
	return p, err
}

// CheckNewPurchase returns all that is wrong with a purchase that is to be recorded, as far as
// that is known without its item. It is public.
func (s *Store) CheckNewPurchase(p Purchase) error {
	p.State, p.Code, p.Currency = StateActive, cmp.Or(p.Code, "new"), cmp.Or(p.Currency, "USD")
	if p.SoldAt.IsZero() {
		p.SoldAt = s.timestamp()
	}
	return rules.CheckSale(&p)
}

// whosePurchase is the error for a code that exists. That of another workspace is counted.
func (s *Store) whosePurchase(ctx context.Context, a people.Actor, workspace string, p Purchase) error {
	found, err := s.db.PurchaseByDigest(ctx, p.Digest)
	if err != nil || found.WorkspaceID != p.WorkspaceID {
		err = s.clashes.Take(a, workspace)
	}
	return cmp.Or[error](err, errPurchaseExists)
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
		return 0, errPurchaseExists
	}
	if err != nil {
		return 0, err
	}
	if err := s.Instance.Gate.SameKeyFile(ctx, tx.Queries); err != nil {
		return 0, err
	}
	return id, people.Record(ctx, &tx.DB, s.now(), a, people.Event{Action: actionCreatePurchase, Workspace: workspace, Subject: idText(id)})
}

var errPurchaseExists = fault.Conflict("purchase_exists", "This purchase code already exists. Codes are unique in the store and do not depend on upper and lower case")

// ends are the actions that end a purchase, by the state that they lead to.
var ends = map[State]people.Action{
	StateRefunded: actionRefundPurchase, StateChargedBack: actionChargeBackPurchase, StateRevoked: actionRevokePurchase,
}

// EndPurchase marks a purchase as refunded, charged back or revoked. Its licenses are on the
// list of revoked ones from then on. A purchase that is not active is a conflict
// (purchase_refunded, …) that says since when.
func (s *Store) EndPurchase(ctx context.Context, a people.Actor, text string, as State) (Purchase, error) {
	did, ok := ends[as]
	if !ok {
		return Purchase{}, fault.Invalid("state_invalid", fmt.Sprintf("A purchase can't end as %q: choose refunded, charged_back or revoked", as))
	}
	return s.changePurchase(ctx, a, text, did, func(tx *storedb.DB, p *Purchase, e *people.Event) error {
		if p.State != StateActive {
			return fault.Conflict("purchase_"+string(p.State), "Nothing changed: "+validation.StateReason(*p))
		}
		e.Before, e.After = string(StateActive), string(as)
		p.State, p.StateAt = as, s.timestamp()
		return tx.SetPurchaseState(ctx, *p, p.State, p.StateAt)
	})
}

// RestorePurchase makes a purchase active again that was refunded, charged back or
// revoked. Its licenses that had not ended by themselves are valid again: nothing was
// written to them. An active purchase is a conflict (purchase_active).
func (s *Store) RestorePurchase(ctx context.Context, a people.Actor, text string) (Purchase, error) {
	return s.changePurchase(ctx, a, text, actionRestorePurchase, func(tx *storedb.DB, p *Purchase, e *people.Event) error {
		if p.State == StateActive {
			return fault.Conflict("purchase_active", "Nothing changed: this purchase is active")
		}
		e.Before, e.After = describeState(*p), string(StateActive)
		p.State, p.StateAt = StateActive, countersign.Timestamp{}
		return tx.SetPurchaseState(ctx, *p, p.State, p.StateAt)
	})
}

// describeState is the state of a purchase for the audit log, and since when it has it.
func describeState(p Purchase) string {
	return string(p.State) + " since " + timeOr(p.StateAt, "an unknown time")
}

// timeOr is a time as text, or none for the zero time.
func timeOr(t countersign.Timestamp, none string) string {
	if t.IsZero() {
		return none
	}
	return t.String()
}

// PurchaseTerms are the properties of a purchase that can be changed after its sale.
type PurchaseTerms struct {
	// License is [countersign.LicenseRegular] or [countersign.LicenseExtended].
	License string
	// SupportedUntil is zero for a purchase without support.
	SupportedUntil countersign.Timestamp
	// Downloaded reports that the buyer has downloaded the item.
	Downloaded bool
	// BuyerName and BuyerEmail are who bought it, as far as that is known.
	BuyerName, BuyerEmail string
}

// SetPurchase lets change alter the terms of a purchase, by the rules of an import. Terms
// that stay the same change nothing. Licenses that were issued stay. Terms that somebody saw with the
// revision seen and that have changed since are an error of kind Precondition (purchase_changed). An empty
// revision is not checked.
func (s *Store) SetPurchase(ctx context.Context, a people.Actor, text, seen string, change func(*PurchaseTerms)) (Purchase, error) {
	return s.changePurchase(ctx, a, text, actionSetPurchase, func(tx *storedb.DB, p *Purchase, e *people.Event) error {
		if seen != "" && TermsRevision(*p) != seen {
			return errTermsChanged
		}
		before := presentTerms(*p)
		after := before
		change(&after)
		e.Before, e.After = describeTerms(before, after)
		if e.After == "" {
			return errSame
		}
		if err := setTerms(p, after); err != nil {
			return err
		}
		return tx.UpdatePurchaseTerms(ctx, *p)
	})
}

// setTerms changes the terms of a purchase, and returns all that is wrong with them. An end of support that stays is not
// checked: earlier imports took any.
func setTerms(p *Purchase, to PurchaseTerms) error {
	var wrongEnd error
	same := to.SupportedUntil.Equal(p.SupportedUntil.Time)
	p.License, p.SupportedUntil, p.Downloaded = to.License, to.SupportedUntil, to.Downloaded
	p.BuyerName, p.BuyerEmail = to.BuyerName, to.BuyerEmail
	if !same {
		wrongEnd = rules.CheckSupportEnd(*p)
	}
	return fault.All(rules.CheckPurchase(p), wrongEnd)
}

// CheckTerms returns all that is wrong with other terms of a purchase. It is public.
func CheckTerms(p Purchase, change func(*PurchaseTerms)) error {
	to := presentTerms(p)
	change(&to)
	return setTerms(&p, to)
}

func presentTerms(p Purchase) PurchaseTerms {
	return PurchaseTerms{p.License, p.SupportedUntil, p.Downloaded, p.BuyerName, p.BuyerEmail}
}

// TermsRevision identifies the terms of a purchase.
func TermsRevision(p Purchase) string { return rules.Revision(presentTerms(p)) }

var errTermsChanged = fault.New(countersign.KindPrecondition, "purchase_changed", "The purchase changed after you opened it. Nothing was saved. Check it and try again")

// describeTerms describes the terms that differ, for the audit log.
func describeTerms(before, after PurchaseTerms) (was, is string) {
	var d rules.Differences
	d.Add("license", before.License, after.License)
	d.Add("supported until", timeOr(before.SupportedUntil, "none"), timeOr(after.SupportedUntil, "none"))
	d.Add("downloaded", strconv.FormatBool(before.Downloaded), strconv.FormatBool(after.Downloaded))
	addHidden(&d, "buyer's name", before.BuyerName, after.BuyerName)
	addHidden(&d, "buyer's e-mail", before.BuyerEmail, after.BuyerEmail)
	return d.Texts()
}

// addHidden adds a property of a person without its values: the log outlives the purchase.
func addHidden(d *rules.Differences, name, was, is string) {
	if was != is {
		d.Add(name, hiddenText(was, "earlier"), hiddenText(is, "changed"))
	}
}

// hiddenText stands for a text in the log.
func hiddenText(text, instead string) string {
	if text == "" {
		return "none"
	}
	return instead
}

// changePurchase runs an act on a purchase and its entry of the audit log, which the act
// may describe, in one transaction.
func (s *Store) changePurchase(ctx context.Context, a people.Actor, text string, did people.Action, act func(*storedb.DB, *Purchase, *people.Event) error) (Purchase, error) {
	c, err := s.Validation.Show(ctx, a, text)
	if err != nil {
		return Purchase{}, err
	}
	var p Purchase
	err = s.db.Tx(ctx, func(tx *storedb.DB) error {
		p, err = tx.LockPurchase(ctx, c.Purchase.ID)
		if err == nil {
			err = access.In(ctx, tx, a, p.WorkspaceID, access.Manage, validation.NoPurchase(c.Purchase.ID))
		}
		if err != nil {
			return err
		}
		event := people.Event{Action: did, Workspace: c.Workspace, Subject: idText(p.ID)}
		if err := act(tx, &p, &event); err != nil {
			return err
		}
		return people.Record(ctx, &tx.DB, s.now(), a, event)
	})
	return p, ifChanged(err)
}

// idText is the id of a purchase or an item as the audit log names it.
func idText(id int64) string { return strconv.FormatInt(id, 10) }
