package membership

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/play"
	"github.com/countersign/countersign/internal/sqldb"
)

// Refresh reads a purchase from the store again.
func (s *Service) Refresh(ctx context.Context, actor people.Actor, name string) (countersign.IAPPurchase, error) {
	return s.act(ctx, actor, name, nil)
}

// Cancel stops the renewals in the store. With final the user can't undo that. The time that
// is paid remains.
func (s *Service) Cancel(ctx context.Context, actor people.Actor, name string, final bool) (countersign.IAPPurchase, error) {
	detail := map[bool]string{true: "the user can't undo it"}[final]
	return s.act(ctx, actor, name, &storeAction{access.ActionPurchaseCancel, detail, func(ctx context.Context, store Store, token string, items []addondb.PurchaseItem) error {
		if isOnce(items) {
			return errOneTime
		}
		return store.Cancel(ctx, token, map[bool]play.CancelKind{true: play.StopPayments, false: play.StopRenewals}[final])
	}})
}

// Revoke has the store refund a purchase and end its access at once: all of it, or prorated
// the rest of the period. A one-time product is refunded as a whole. The purchase is read again afterwards: what the store
// says counts.
func (s *Service) Revoke(ctx context.Context, actor people.Actor, name string, prorated bool) (countersign.IAPPurchase, error) {
	detail := map[bool]string{true: "prorated refund", false: "full refund"}[prorated]
	return s.act(ctx, actor, name, &storeAction{access.ActionPurchaseRevoke, detail, func(ctx context.Context, store Store, token string, items []addondb.PurchaseItem) error {
		switch {
		case isOnce(items) && prorated:
			return errOneTime
		case isOnce(items):
			return refundOrder(ctx, store, items, true)
		}
		return store.Revoke(ctx, token, map[bool]play.Refund{true: play.ProratedRefund, false: play.FullRefund}[prorated])
	}})
}

// Refund has the store refund the order of the current period, and with revoke end the access
// that it paid for.
func (s *Service) Refund(ctx context.Context, actor people.Actor, name string, revoke bool) (countersign.IAPPurchase, error) {
	detail := map[bool]string{true: "access ends", false: "access continues"}[revoke]
	return s.act(ctx, actor, name, &storeAction{access.ActionPurchaseRefund, detail, func(ctx context.Context, store Store, _ string, items []addondb.PurchaseItem) error {
		return refundOrder(ctx, store, items, revoke)
	}})
}

func refundOrder(ctx context.Context, store Store, items []addondb.PurchaseItem, revoke bool) error {
	main := mainItem(items)
	if main == nil || main.OrderID == "" {
		return fault.Conflict("no_order", "Nothing was paid for this purchase yet")
	}
	return store.RefundOrder(ctx, main.OrderID, revoke)
}

// The bounds of the days by which a renewal can be deferred: the store's (1.9).
const (
	minDefer = 1
	maxDefer = 365
)

// Defer has the store renew a purchase a number of days later. The user has access until then
// and pays nothing for it.
func (s *Service) Defer(ctx context.Context, actor people.Actor, name string, days int) (countersign.IAPPurchase, error) {
	if days < minDefer || days > maxDefer {
		return countersign.IAPPurchase{}, fault.Invalid("invalid_request", fmt.Sprintf("A renewal can be deferred by %d to %d days", minDefer, maxDefer))
	}
	const day = 24 * time.Hour
	detail := fmt.Sprintf("by %d days", days)
	return s.act(ctx, actor, name, &storeAction{access.ActionPurchaseDefer, detail, func(ctx context.Context, store Store, token string, items []addondb.PurchaseItem) error {
		if main := mainItem(items); main == nil || !main.WillRenew {
			return fault.Conflict("not_renewing", "The store does not renew this purchase, so no renewal can be deferred")
		}
		sub, err := s.ask(ctx, store.Subscription, token)
		if err == nil {
			_, err = store.Defer(ctx, token, sub.ETag, time.Duration(days)*day)
		}
		return err
	}})
}

var errOneTime = fault.Conflict("one_time_purchase", "This product was bought once: it has no renewals, and is refunded as a whole")

// isOnce reports whether the items are of one-time products.
func isOnce(items []addondb.PurchaseItem) bool { return len(items) > 0 && items[0].Quantity > 0 }

// storeAction is something that the store is asked to do with a purchase.
type storeAction struct {
	action people.Action
	detail string
	do     func(ctx context.Context, store Store, token string, items []addondb.PurchaseItem) error
}

// act has the store do something with a purchase, if anything, writes that down, and reads
// the purchase again. If only the reading fails, the action succeeds: a task reads the purchase
// later.
func (s *Service) act(ctx context.Context, actor people.Actor, name string, action *storeAction) (printed countersign.IAPPurchase, err error) {
	if err := s.access.May(actor, access.ManageMembers); err != nil {
		return printed, err
	}
	p, store, selling, token, err := s.storePurchase(ctx, name)
	if err != nil {
		return printed, err
	}
	if action != nil {
		ctx = context.WithoutCancel(ctx) // a caller that goes away does not undo it
		if err := s.perform(ctx, actor, store, selling, p, token, *action); err != nil {
			return printed, err
		}
	}
	_, err = s.readAndApply(ctx, store, selling, token, request{cause: causeRefresh})
	switch {
	case err != nil && action == nil:
		return printed, err
	case err != nil:
		s.log.Warn("a purchase was not read again after an action; it is tried again", "purchase", name, "cause", err)
	}
	return s.printedByName(ctx, name)
}

// perform asks the store and writes the audit entry, and the event of a refund. A task reads the
// purchase in case that this process is killed before it does.
func (s *Service) perform(ctx context.Context, actor people.Actor, store Store, selling iap.Selling, p addondb.Purchase, token string, action storeAction) error {
	items, err := s.db.PurchaseItems(ctx, p.ID)
	if err != nil {
		return err
	}
	if err := action.do(ctx, store, token, items); fault.Of(err) != nil {
		return err
	} else if err != nil {
		return errors.Join(actionRefusal(err), s.noteCall(ctx, callAct, selling, err))
	}
	if err := s.noteCall(ctx, callAct, selling, nil); err != nil {
		s.log.Warn("an alert could not be resolved", "cause", err)
	}
	return s.tx(ctx, func(tx *txn) error {
		if err := s.put(ctx, tx.DB, purchaseTask(KindReread, p.Name, s.now().Add(inlineWait))); err != nil {
			return err
		}
		if action.action == access.ActionPurchaseRefund {
			if err := s.appendFor(ctx, tx, events.PurchaseRefunded, p); err != nil {
				return err
			}
		}
		return s.access.Audit(ctx, tx.DB, actor, people.Event{Action: action.action, Subject: p.Name, Detail: action.detail})
	})
}

// actionRefusal is refusal for something that the store was asked to do.
func actionRefusal(err error) *countersign.Error {
	if reason, _ := reasonOf(err); reason == play.Refused {
		return fault.WithCause(fault.Conflict("store_refused", "The store refused this. The purchase may have changed there"), err)
	}
	return refusal(err)
}

// storePurchase reads a purchase, and opens its token and the store in which it was made.
func (s *Service) storePurchase(ctx context.Context, name string) (p addondb.Purchase, store Store, selling iap.Selling, token string, err error) {
	if p, err = s.db.Purchase(ctx, name); err != nil {
		return p, nil, selling, "", sqldb.IfNotFound(err, noPurchase)
	}
	if store, selling, err = s.openOrigin(ctx, originOf(p)); err != nil {
		return p, nil, selling, "", err
	}
	if len(p.Sealed) == 0 {
		return p, nil, selling, "", fault.Conflict("token_lost", "The token of this purchase was encrypted with a key file that is lost. The app restores it")
	}
	stored, err := openTokens(s.box(), p)
	return p, store, selling, stored.Token, err
}

// printedByName prints a purchase as it is stored.
func (s *Service) printedByName(ctx context.Context, name string) (printed countersign.IAPPurchase, err error) {
	err = s.db.Snapshot(ctx, func(tx *addondb.DB) error {
		p, err := tx.Purchase(ctx, name)
		if err != nil {
			return sqldb.IfNotFound(err, noPurchase)
		}
		printed, err = s.printPurchase(ctx, tx, p)
		return err
	})
	return printed, err
}

// appendFor appends an event about a purchase to its owner.
func (s *Service) appendFor(ctx context.Context, tx *txn, event events.Type, p addondb.Purchase) error {
	if event == events.PurchaseRefunded {
		if err := s.recount(ctx, tx, p); err != nil {
			return err
		}
	}
	purchase, err := s.printedOf(ctx, tx.DB, p)
	if err != nil {
		return err
	}
	tx.events = append(tx.events, events.Event{Type: event, UserID: p.UserID, Purchase: purchase, Environment: p.Environment})
	return nil
}

// Transfer moves a purchase to another user for good: it overrules the account id, which the
// store never changes, also that of purchases that take its place. Both users get an event. It decides about a purchase
// without an owner.
func (s *Service) Transfer(ctx context.Context, actor people.Actor, name, to, reason string) (printed countersign.IAPPurchase, err error) {
	if err := s.access.May(actor, access.ManageMembers); err != nil {
		return printed, err
	}
	reason, wrongReason := checkReason(reason)
	if err := fault.All(fault.At("to", checkUser(to)), fault.At("reason", wrongReason)); err != nil {
		return printed, err
	}
	err = s.tx(ctx, func(tx *txn) error {
		p, err := tx.LockPurchase(ctx, name)
		if err != nil {
			return sqldb.IfNotFound(err, noPurchase)
		}
		from := p.UserID
		if from == to {
			return nil
		}
		if p, err = s.move(ctx, tx.DB, p, to, causeTransfer, reason); err != nil {
			return err
		}
		users, err := s.endClaims(ctx, tx.DB, []addondb.Purchase{{ID: p.ID, Name: p.Name}}, p)
		if err != nil {
			return err
		}
		if err := s.recompute(ctx, tx, change{purchase: p, moved: moved(from, to)}, append(users, from, to)...); err != nil {
			return err
		}
		if hasDays(p) { // with its own
			if err := s.shiftDays(ctx, tx.DB, p.StartedAt, 0, from, to); err != nil {
				return err
			}
		}
		return s.access.Audit(ctx, tx.DB, actor, people.Event{Action: access.ActionPurchaseTransfer, Subject: name, Before: from, After: to, Detail: reason})
	})
	if err != nil {
		return printed, err
	}
	return s.printedByName(ctx, name)
}

// move writes that a purchase belongs to another user from now on. The memberships of both
// have to be derived afterwards.
func (s *Service) move(ctx context.Context, tx *addondb.DB, p addondb.Purchase, to, cause, detail string) (addondb.Purchase, error) {
	p.UserID, p.Transferred, p.TransferredAt = to, true, s.timestamp()
	p.Reads++
	s.due(&p)
	if err := tx.UpdatePurchase(ctx, p); err != nil {
		return p, err
	}
	if !p.AcknowledgeSince.IsZero() {
		if err := s.put(ctx, tx, purchaseTask(KindAcknowledge, p.Name, s.now())); err != nil {
			return p, err
		}
	}
	return p, s.noteHistory(ctx, tx, p, nil, cause, detail)
}

// moved lists the users between whom a purchase was moved. One that nobody owned before is like a new one.
func moved(from, to string) []string {
	if from == "" {
		return nil
	}
	return []string{from, to}
}
