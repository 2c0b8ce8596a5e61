package membership

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// Erased is what an erasure has found.
type Erased struct {
	// Purchases no longer name the user, Grants were deleted.
	Purchases, Grants int64
}

// Erase removes a user: the membership, grants and events are deleted, and the account ids lead to nobody. The simulated
// store forgets the user as well. Purchases
// stay for the books, with products, orders, prices and times, but without the user, the tokens
// and the texts that staff typed. The store is not asked. A subscription that the store still
// renews is a conflict (subscription_renews), because nobody could stop it here afterwards;
// force erases it all the same. A user without anything is fine.
func (s *Service) Erase(ctx context.Context, actor people.Actor, user string, force bool) (erased Erased, err error) {
	if err := s.access.May(actor, access.ManageMembers); err != nil {
		return erased, err
	}
	if err := checkUser(user); err != nil {
		return erased, err
	}
	err = s.tx(ctx, func(tx *txn) error {
		erased = Erased{}
		if err := s.simulator.Rename(ctx, tx.DB, user, ""); err != nil {
			return err
		}
		if err := tx.DeleteQueuedVerifications(ctx, user); err != nil { // first, as a verification does
			return err
		}
		err := eachPurchaseOf(ctx, tx.DB, user, func(p addondb.Purchase) error {
			if err := s.mayErase(ctx, tx.DB, p, force); err != nil {
				return err
			}
			erased.Purchases++
			return s.anonymise(ctx, tx, p)
		})
		if err != nil {
			return err
		}
		if err := tx.LockMemberships(ctx, s.timestamp(), user); err != nil {
			return err
		}
		if erased.Grants, err = tx.DeleteGrants(ctx, user); err != nil {
			return err
		}
		for _, remove := range []func(context.Context, string) error{tx.DeleteOwnerClaimsOf, tx.ForgetIdentities, tx.DeleteMembership, tx.DeleteEventsOf} {
			if err := remove(ctx, user); err != nil {
				return err
			}
		}
		if err := tx.DeleteAlert(ctx, alertPaidTwice, user); err != nil {
			return err
		}
		detail := fmt.Sprintf("%d purchases, %d grants", erased.Purchases, erased.Grants)
		return s.access.Audit(ctx, tx.DB, actor, people.Event{Action: access.ActionCustomerErase, Subject: user, Detail: detail})
	})
	return erased, err
}

// mayErase returns a conflict for a purchase that the store still renews.
func (s *Service) mayErase(ctx context.Context, tx *addondb.DB, p addondb.Purchase, force bool) error {
	if force || p.SupersededBy != 0 || hasEnded(p) {
		return nil
	}
	if !p.Access { // pending, on hold or paused: the store goes on by itself
		return errRenews
	}
	items, err := tx.PurchaseItems(ctx, p.ID)
	if err != nil {
		return err
	}
	for _, item := range items {
		if item.WillRenew {
			return errRenews
		}
	}
	return nil
}

// hasEnded reports that the store does nothing more with a purchase.
func hasEnded(p addondb.Purchase) bool {
	switch entitle.Status(p.Status) {
	case entitle.Expired, entitle.Revoked, entitle.Failed, entitle.Superseded:
		return true
	}
	return false
}

var errRenews = fault.Conflict("subscription_renews", "The store still renews a subscription of this user, and nobody could cancel it here after an erasure")

// anonymise takes from a purchase what leads to its user, and ends it. Its token gets the digest
// of no token, so that a later notification finds nothing.
func (s *Service) anonymise(ctx context.Context, tx *txn, p addondb.Purchase) error {
	before := p
	if err := tx.DeleteMessagesAbout(ctx, p.TokenDigest); err != nil {
		return err
	}
	if err := tx.ForgetToken(ctx, p); err != nil {
		return err
	}
	nobody := make([]byte, len(p.TokenDigest))
	rand.Read(nobody)
	p.TokenDigest, p.LinkedDigest, p.Sealed = nobody, nil, []byte{}
	p.UserID, p.AccountID, p.Transferred, p.TransferredAt = "", "", false, sqldb.Time{}
	p.AcknowledgeSince = sqldb.Time{}
	if !hasEnded(p) {
		p.Status, p.StatusSince = string(entitle.Expired), s.timestamp()
	}
	p.Access, p.Unverified = false, false
	p.Reads++
	if err := tx.UpdatePurchase(ctx, p); err != nil {
		return err
	}
	if err := s.countEnd(ctx, tx, before, p); err != nil {
		return err
	}
	if err := tx.ClearHistoryDetails(ctx, p.ID); err != nil {
		return err
	}
	return s.noteHistory(ctx, tx.DB, p, nil, causeErase, "")
}
