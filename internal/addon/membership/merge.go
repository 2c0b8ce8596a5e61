package membership

import (
	"context"
	"fmt"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// Merged is what a merge of two users has moved.
type Merged struct {
	Purchases, Grants int64
	// Membership is that of the user who has everything now.
	Membership countersign.IAPMembership
}

// Merge moves the purchases, grants and account ids of a user to another one, for a site that
// merges two accounts. A user without any is fine, so that a merge can be repeated. The events
// before it stay under the user of their time.
func (s *Service) Merge(ctx context.Context, actor people.Actor, from, to string) (merged Merged, err error) {
	if err := s.access.May(actor, access.ManageMembers); err != nil {
		return merged, err
	}
	for _, user := range []string{from, to} {
		if err := checkUser(user); err != nil {
			return merged, err
		}
	}
	if from == to {
		return merged, fault.Invalid("invalid_request", "A merge needs two users")
	}
	err = s.tx(ctx, func(tx *txn) error { // locks in the order of a verification: what is queued, purchases, memberships
		if err := s.simulator.Rename(ctx, tx.DB, from, to); err != nil {
			return err
		}
		if err := tx.MoveQueuedVerifications(ctx, from, to); err != nil {
			return err
		}
		if merged.Purchases, err = s.movePurchases(ctx, tx.DB, from, to); err != nil {
			return err
		}
		if err := tx.MoveOwnerClaims(ctx, from, to); err != nil {
			return err
		}
		if err := tx.LockMemberships(ctx, s.timestamp(), sorted(from, to)...); err != nil {
			return err
		}
		if merged.Grants, err = tx.MoveGrants(ctx, from, to); err != nil {
			return err
		}
		if err := s.moveIdentities(ctx, tx.DB, from, to); err != nil {
			return err
		}
		why := change{}
		if merged.Purchases+merged.Grants > 0 {
			why.moved = []string{from, to}
		}
		if err := s.recompute(ctx, tx, why, from, to); err != nil {
			return err
		}
		if err := s.shiftDays(ctx, tx.DB, sqldb.Time{}, 0, to); err != nil {
			return err
		}
		m, err := membershipOf(ctx, tx.DB, to)
		if err != nil {
			return err
		}
		merged.Membership = printMembership(m)
		detail := fmt.Sprintf("%d purchases, %d grants", merged.Purchases, merged.Grants)
		return s.access.Audit(ctx, tx.DB, actor, people.Event{Action: access.ActionCustomerMerge, Subject: to, Before: from, After: to, Detail: detail})
	})
	return merged, err
}

// sorted is users in the order in which all transactions lock them, each once and without "".
func sorted(users ...string) []string {
	slices.Sort(users)
	return slices.DeleteFunc(slices.Compact(users), func(user string) bool { return user == "" })
}

// movePurchases moves all purchases of a user to another one.
func (s *Service) movePurchases(ctx context.Context, tx *addondb.DB, from, to string) (moved int64, err error) {
	err = eachPurchaseOf(ctx, tx, from, func(p addondb.Purchase) error {
		moved++
		_, err := s.move(ctx, tx, p, to, causeMerge, "")
		return err
	})
	return moved, err
}

// eachPurchaseOf locks the purchases of a user and calls do for each, the newest first.
func eachPurchaseOf(ctx context.Context, tx *addondb.DB, user string, do func(addondb.Purchase) error) error {
	for before := int64(0); ; {
		list, err := tx.PurchasesOf(ctx, user, before, batch)
		if err != nil {
			return err
		}
		for _, p := range list {
			before = p.ID
			locked, err := tx.LockPurchase(ctx, p.Name)
			if err != nil {
				return err
			}
			if locked.UserID != user { // moved meanwhile
				continue
			}
			if err := do(locked); err != nil {
				return err
			}
		}
		if len(list) < batch {
			return nil
		}
	}
}

// moveIdentities has notifications about purchases of a user's app attributed to another one.
func (s *Service) moveIdentities(ctx context.Context, tx *addondb.DB, from, to string) error {
	if err := tx.MoveIdentities(ctx, from, to); err != nil {
		return err
	}
	return tx.PutIdentity(ctx, s.accountOf(from), to, s.timestamp())
}
