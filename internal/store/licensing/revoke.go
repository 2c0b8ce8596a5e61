package licensing

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/license"
)

// RevokeForBuyer ends the license that a purchase has for a domain, as its buyer
// asks, and frees the domain. id says which license is meant, and another one stays
// as it is; it may be empty. It counts as a move, or else a buyer could revoke and
// ask for another license without limit; that of a test domain does not count. A
// license that its buyer has revoked before is returned and nothing changes, so that
// the call can be repeated.
//
// Beside the errors of a validation there is one of kind Invalid (domain_invalid),
// and the Conflicts moves_used and move_too_soon, which say when to come back, and
// domain_not_activated for a domain, or a license, that is not in use.
func (s *Service) RevokeForBuyer(ctx context.Context, a people.Actor, code, domain, id string) (License, error) {
	h, d, l, err := s.findRevocable(ctx, a, code, domain, id)
	if err == nil && l.Ended == "" {
		l, err = s.revokeForBuyer(ctx, a, h.Purchase.ID, d, id)
	}
	return License{License: l, PurchaseItem: h.PurchaseItem}, err
}

// RevokeCost returns what [Service.RevokeForBuyer] would use up. Its errors are those of RevokeForBuyer; it changes nothing.
func (s *Service) RevokeCost(ctx context.Context, a people.Actor, code, domain string) (MoveCost, error) {
	h, _, l, err := s.findRevocable(ctx, a, code, domain, "")
	if err != nil || l.Free || l.Ended != "" {
		return MoveCost{Free: true}, err
	}
	return h.moveCost(), nil
}

// findRevocable finds the license of a purchase that its buyer may revoke.
func (s *Service) findRevocable(ctx context.Context, a people.Actor, code, domain, id string) (h purchaseLicenses, d license.Domain, l storedb.License, err error) {
	if h, err = s.findPurchase(ctx, a, code); err != nil {
		return h, d, l, err
	}
	if d, err = parseDomain(domain, license.DomainRule{Wildcard: true, Staging: h.Licensing.StagingHosts}); err != nil {
		return h, d, l, err
	}
	l, err = h.revocable(d, id)
	return h, d, l, err
}

func (s *Service) revokeForBuyer(ctx context.Context, a people.Actor, purchase int64, d license.Domain, id string) (storedb.License, error) {
	var l storedb.License
	err := s.db.Tx(ctx, func(tx *storedb.DB) error {
		h, err := s.lockPurchase(ctx, tx, a, purchase)
		if err != nil {
			return err
		}
		if l, err = h.revocable(d, id); err != nil || l.Ended != "" {
			return err
		}
		l.Ended, l.EndedAt = storedb.EndingGivenUp, countersign.At(s.now())
		if err := tx.EndLicense(ctx, l.ID, l.Ended, l.EndedAt); err != nil {
			return err
		}
		return people.Record(ctx, &tx.DB, s.now(), a, people.Event{Action: actionRevoke, Workspace: h.Workspace, Subject: l.ID, Detail: d.Name})
	})
	return l, err
}

// revocable finds the license for a domain that its buyer may revoke now, or the last one
// for this domain when its buyer revoked it. id narrows both to one.
func (h purchaseLicenses) revocable(d license.Domain, id string) (storedb.License, error) {
	var last storedb.License
	for _, l := range h.Licenses {
		switch {
		case l.Domain != d.Name, id != "" && l.ID != id:
		case l.Ended == "" && l.Free:
			return l, nil
		case l.Ended == "":
			return l, h.mayMove()
		case !l.EndedAt.Before(last.EndedAt.Time):
			last = l
		}
	}
	if last.Ended != storedb.EndingGivenUp {
		message := d.Name + " is not licensed with this purchase code"
		if id != "" {
			message = "This license for " + d.Name + " is not active"
		}
		return storedb.License{}, notActivated(message, h.inUse(h.isFree(d)))
	}
	return last, nil
}

// Revoke ends a license for good, and the buyer's own issuing with it,
// until the operator issues another one for the purchase. A license that its buyer
// revoked can be revoked, too: else a buyer could keep the seller from ending the
// issuing. A second time is a conflict that says when the first one was.
func (s *Service) Revoke(ctx context.Context, a people.Actor, id string) (License, error) {
	l, err := s.find(ctx, a, id, access.Manage)
	if err != nil {
		return License{}, err
	}
	err = s.db.Tx(ctx, func(tx *storedb.DB) error {
		if _, err := tx.LockPurchase(ctx, l.PurchaseID); err != nil {
			return err
		}
		if l, err = tx.License(ctx, id); err == nil {
			err = access.In(ctx, tx, a, l.WorkspaceID, access.Manage, noLicense(id))
		}
		if err != nil {
			return sqldb.IfNotFound(err, noLicense(id))
		}
		if l.Ended != "" && l.Ended != storedb.EndingGivenUp {
			return fault.Conflict("license_ended", "Nothing changed: "+endReason(l))
		}
		l.Ended, l.EndedAt = storedb.EndingRevoked, countersign.At(s.now())
		if err := tx.EndLicense(ctx, id, l.Ended, l.EndedAt); err != nil {
			return err
		}
		return people.Record(ctx, &tx.DB, s.now(), a, people.Event{Action: actionRevoke, Workspace: l.Workspace, Subject: l.ID, Detail: l.Domain})
	})
	return l, err
}
