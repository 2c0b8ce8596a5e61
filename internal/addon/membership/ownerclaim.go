package membership

import (
	"context"
	"errors"
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

const alertOwnerUnknown = "purchase_owner_unknown"

// askOwner leaves a purchase that another backend made to the decision of the site, and tells it once about each user
// who claims it. Until then the user's purchase is pending.
func (s *Service) askOwner(ctx context.Context, tx *txn, p addondb.Purchase, user string) (applied, error) {
	if hasEnded(p) {
		return applied{refused: errOwnedByOther}, nil
	}
	added, err := tx.AddOwnerClaim(ctx, addondb.OwnerClaim{PurchaseID: p.ID, UserID: user, ClaimedAt: s.timestamp()})
	if err != nil {
		return applied{}, err
	}
	waiting := applied{result: ResultQueued}
	if !added {
		claim, err := tx.OwnerClaim(ctx, p.ID, user)
		if errors.Is(err, sqldb.ErrNotFound) { // its user was erased meanwhile
			return applied{}, errStale
		}
		if claim.Refused {
			waiting = applied{refused: errOwnedByOther}
		}
		return waiting, err
	}
	message := fmt.Sprintf("A user claims the purchase %s, whose account id is another system's. Nobody has it until you decide", p.Name)
	if err := s.raise(ctx, tx.DB, alertOwnerUnknown, p.Name, message); err != nil {
		return applied{}, err
	}
	if err := s.recompute(ctx, tx, change{environment: entitle.Environment(p.Environment)}, user); err != nil {
		return applied{}, err
	}
	purchase, err := s.printedOf(ctx, tx.DB, p)
	tx.events = append(tx.events, events.Event{Type: events.PurchaseOwnerUnknown, UserID: user, Purchase: purchase, Environment: p.Environment})
	return waiting, err
}

// endClaims ends the claims to purchases that nobody owned: next, which now has an owner or has ended, and those whose
// place it took. It returns the users who waited, whose memberships have to be derived again.
func (s *Service) endClaims(ctx context.Context, tx *addondb.DB, before []addondb.Purchase, next addondb.Purchase) (users []string, err error) {
	for _, p := range before {
		goesOn := p.ID == next.ID && next.UserID == "" && !hasEnded(next)
		if p.ID == 0 || p.UserID != "" || goesOn {
			continue
		}
		claims, err := tx.OwnerClaims(ctx, p.ID)
		if err != nil {
			return nil, err
		}
		for _, claim := range claims {
			users = append(users, claim.UserID)
		}
		err = errors.Join(tx.DeleteOwnerClaims(ctx, p.ID), s.resolve(ctx, tx, alertOwnerUnknown, p.Name))
		if err != nil {
			return nil, err
		}
	}
	return users, nil
}

// RefuseOwner is the site's decision that a user is not the owner of a purchase that nobody owns. [Service.Transfer] is
// the opposite one.
func (s *Service) RefuseOwner(ctx context.Context, actor people.Actor, name, user, reason string) (printed countersign.IAPPurchase, err error) {
	if err := s.access.May(actor, access.ManageMembers); err != nil {
		return printed, err
	}
	reason, wrongReason := checkReason(reason)
	if err := fault.All(fault.At("user_id", checkUser(user)), fault.At("reason", wrongReason)); err != nil {
		return printed, err
	}
	err = s.tx(ctx, func(tx *txn) error {
		p, err := tx.LockPurchase(ctx, name)
		if err != nil {
			return sqldb.IfNotFound(err, noPurchase)
		}
		open, err := tx.RefuseOwnerClaim(ctx, p.ID, user)
		if err != nil {
			return err
		}
		if !open {
			return errNoClaim
		}
		if err := s.answered(ctx, tx.DB, p); err != nil {
			return err
		}
		if err := s.recompute(ctx, tx, change{purchase: p}, user); err != nil {
			return err
		}
		return s.access.Audit(ctx, tx.DB, actor, people.Event{Action: access.ActionPurchaseRefuse, Subject: name, Before: user, Detail: reason})
	})
	if err != nil {
		return printed, err
	}
	return s.printedByName(ctx, name)
}

var errNoClaim = fault.Conflict("no_claim", "This user does not wait for a decision about the purchase")

// answered ends the alert about a purchase for which no user waits any more.
func (s *Service) answered(ctx context.Context, tx *addondb.DB, p addondb.Purchase) error {
	waiting, err := claimants(ctx, tx, p)
	if err != nil || len(waiting) > 0 {
		return err
	}
	return s.resolve(ctx, tx, alertOwnerUnknown, p.Name)
}

// claimants lists the users who wait for a decision about a purchase.
func claimants(ctx context.Context, tx *addondb.DB, p addondb.Purchase) (users []string, err error) {
	claims, err := tx.OwnerClaims(ctx, p.ID)
	for _, claim := range claims {
		if !claim.Refused {
			users = append(users, claim.UserID)
		}
	}
	return users, err
}
