package licensing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/license"
)

// Move frees a domain of a purchase and returns the license for another one,
// as its buyer asks. from may be empty while a single domain is in use. When the
// purchase has a license for the new domain already, that one is returned and
// nothing changes, so that a move can be repeated safely.
//
// Beside the errors of [Service.Issue] there are the Conflicts moves_used and
// move_too_soon, which say when to come back, and domain_not_activated for a from
// that is not in use; and of kind Invalid from_missing and domain_free.
func (s *Service) Move(ctx context.Context, a people.Actor, issuer, code, from, domain string) (Signed, error) {
	return onlyLicense(s.MoveAll(ctx, a, issuer, from, Request{Code: code, Domain: domain}))
}

// MoveAll is [Service.Move], with the licenses of test domains beside it as for
// [Service.IssueAll]. When one of the domains is refused, nothing is moved.
func (s *Service) MoveAll(ctx context.Context, a people.Actor, issuer, from string, q Request) ([]Signed, error) {
	return s.license(ctx, a, issuer, q, func(h purchaseLicenses, domains []license.Domain) (purchaseLicenses, error) {
		if _, found := h.find(domains[0]); found {
			return s.addLicenses(ctx, a, h, domains)
		}
		return s.moveLicense(ctx, a, h.Purchase.ID, domains, func(h purchaseLicenses) (storedb.License, error) {
			old, err := h.movable(from, domains[0])
			if err != nil {
				return storedb.License{}, err
			}
			return old, h.mayMove()
		})
	})
}

// MoveCost is what a move, or what a buyer revokes, uses up.
type MoveCost struct {
	// Free reports that it uses up nothing: the purchase has a license for the new domain already, or the one to revoke is of a
	// test domain or has ended.
	Free bool
	// Left is how many moves are left in this year after this one, of MovesAYear.
	Left, MovesAYear int
	// Wait is how long the next move has to wait.
	Wait time.Duration
}

// MoveCost returns what [Service.MoveAll] would use up. Its errors are those of MoveAll; it changes nothing.
func (s *Service) MoveCost(ctx context.Context, a people.Actor, from string, q Request) (MoveCost, error) {
	h, err := s.findPurchase(ctx, a, q.Code)
	if err != nil {
		return MoveCost{}, err
	}
	domains, err := h.parse(q)
	if err != nil {
		return MoveCost{}, err
	}
	if _, found := h.find(domains[0]); found {
		return MoveCost{Free: true}, nil
	}
	if _, err := h.movable(from, domains[0]); err != nil {
		return MoveCost{}, err
	}
	return h.moveCost(), h.mayMove()
}

func (h purchaseLicenses) moveCost() MoveCost {
	rule := h.Licensing
	return MoveCost{
		Left: rule.MovesAYear - len(h.endedInAYear(isMove)) - 1, MovesAYear: rule.MovesAYear, Wait: time.Duration(rule.MoveWaitHours) * time.Hour,
	}
}

// moveLicense ends the license that choose returns and adds one for another domain,
// and those of test domains beside it, in one transaction.
func (s *Service) moveLicense(ctx context.Context, a people.Actor, purchase int64, domains []license.Domain, choose func(purchaseLicenses) (storedb.License, error)) (h purchaseLicenses, err error) {
	if _, err := s.signingKeys(ctx); err != nil {
		return purchaseLicenses{}, err
	}
	for {
		err := s.db.Tx(ctx, func(tx *storedb.DB) error {
			h, err = s.tryMove(ctx, tx, a, purchase, domains, choose)
			return err
		})
		if !errors.Is(err, errMeanwhile) { // an import takes no lock of the purchase
			return h, err
		}
	}
}

func (s *Service) tryMove(ctx context.Context, tx *storedb.DB, a people.Actor, purchase int64, domains []license.Domain, choose func(purchaseLicenses) (storedb.License, error)) (purchaseLicenses, error) {
	h, err := s.lockPurchase(ctx, tx, a, purchase)
	if err != nil {
		return purchaseLicenses{}, err
	}
	moved := ""
	if there, found := h.find(domains[0]); found && !h.buyer {
		return purchaseLicenses{}, fault.Conflict("domain_activated", "Nothing changed: the purchase has another license for "+domains[0].String()+", "+there.ID)
	} else if !found {
		old, err := choose(h)
		if err != nil {
			return purchaseLicenses{}, err
		}
		if err := tx.EndLicense(ctx, old.ID, h.moveEnding(), countersign.At(s.now())); err != nil {
			return purchaseLicenses{}, err
		}
		h, moved = h.without(old), old.Domain
	}
	h, fresh, err := h.plan(domains, countersign.At(s.now()))
	if err != nil {
		return purchaseLicenses{}, err
	}
	if err := h.write(ctx, tx, fresh); err != nil {
		return purchaseLicenses{}, err
	}
	if moved != "" {
		err = people.Record(ctx, &tx.DB, s.now(), a, people.Event{Action: actionMove, Workspace: h.Workspace, Subject: fresh[0].ID, Detail: moved + " → " + domains[0].String()})
		fresh = fresh[1:]
	}
	return h, errors.Join(err, s.auditIssued(ctx, tx, a, h, fresh))
}

// moveEnding is how a license ends that is moved.
func (h purchaseLicenses) moveEnding() storedb.Ending {
	if h.buyer {
		return storedb.EndingMoved
	}
	return storedb.EndingReplaced
}

// movable finds the license that a buyer wants to move to a domain.
func (h purchaseLicenses) movable(from string, to license.Domain) (storedb.License, error) {
	if h.isFree(to) {
		return storedb.License{}, invalidLicense(countersign.CodeDomainFree,
			to.Name+" is a test domain. Request a license for it instead: it is free", nil)
	}
	var counted []storedb.License
	for _, l := range h.Licenses {
		if l.Ended == "" && !l.Free {
			counted = append(counted, l)
		}
	}
	if from == "" {
		if len(counted) > 1 {
			return storedb.License{}, invalidLicense(countersign.CodeFromMissing, "Several domains are licensed. Set from to the one to free", h.inUse(false))
		}
		if len(counted) == 1 {
			return counted[0], nil
		}
		return storedb.License{}, notActivated("No domain is licensed yet. Request a license instead of moving one", h.inUse(false))
	}
	d, err := parseDomain(from, license.DomainRule{Wildcard: true})
	if err != nil {
		return storedb.License{}, err
	}
	for _, l := range counted {
		if l.Domain == d.Name {
			return l, nil
		}
	}
	return storedb.License{}, notActivated(d.Name+" is not licensed with this purchase code", h.inUse(false))
}

func notActivated(message string, in countersign.LicenseDomains) error {
	return fault.WithData(fault.Conflict(countersign.CodeDomainNotActivated, message), in)
}

func invalidLicense(code, message string, data any) error {
	return fault.WithData(fault.Invalid(code, message), data)
}

// mayMove holds a buyer to the item's number of moves a year and to the wait after
// each.
func (h purchaseLicenses) mayMove() error {
	rule := h.Licensing
	year := h.endedInAYear(isMove)
	if len(year) >= rule.MovesAYear {
		return h.noMove(countersign.CodeMovesUsed, fmt.Sprintf("Licenses of this purchase can be moved or revoked %s in a year. The limit is reached", times(rule.MovesAYear)),
			nextMove(year, rule.MovesAYear, h.now))
	}
	wait := time.Duration(rule.MoveWaitHours) * time.Hour // a year at most
	if len(year) == 0 {
		return nil
	}
	last := slices.MaxFunc(year, time.Time.Compare)
	if left := last.Add(wait).Sub(h.now); left > 0 {
		return h.noMove(countersign.CodeMoveTooSoon, fmt.Sprintf("Licenses of this purchase can be moved or revoked again %d hours after the last time", rule.MoveWaitHours), left)
	}
	return nil
}

// isMove reports whether a license was taken by its buyer from a domain that counts.
func isMove(l storedb.License) bool {
	return l.Ended == storedb.EndingMoved || (l.Ended == storedb.EndingGivenUp && !l.Free)
}

// nextMove is how long until fewer than limit moves are younger than a year; 0
// when that never comes. The moves are in no order.
func nextMove(moves []time.Time, limit int, now time.Time) time.Duration {
	if limit == 0 {
		return 0
	}
	slices.SortFunc(moves, time.Time.Compare)
	return moves[len(moves)-limit].Add(moveYear).Sub(now)
}

func (h purchaseLicenses) noMove(code, message string, wait time.Duration) error {
	return fault.WithRetry(fault.WithData(fault.Conflict(code, message), h.inUse(false)), wait)
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// Reassign moves a license to another domain, as the operator wishes: it
// counts as no move of the buyer's.
func (s *Service) Reassign(ctx context.Context, a people.Actor, issuer, id, domain string) (Signed, error) {
	old, err := s.find(ctx, a, id, access.Manage)
	if err != nil {
		return Signed{}, err
	}
	if old.Ended != "" {
		return Signed{}, fault.Conflict("license_ended", "Nothing changed: "+endReason(old))
	}
	d, err := parseDomain(domain, domainRule(old.Licensing))
	if err != nil {
		return Signed{}, err
	}
	domains := []license.Domain{d}
	h, err := s.moveLicense(ctx, a, old.PurchaseID, domains, func(h purchaseLicenses) (storedb.License, error) {
		for _, l := range h.Licenses {
			if l.ID == id && l.Ended == "" {
				return l, nil
			}
		}
		return storedb.License{}, fault.Conflict("license_ended", "Nothing changed: this license has ended in the meantime")
	})
	if err != nil {
		return Signed{}, err
	}
	return onlyLicense(s.signLicenses(ctx, issuer, h, domains))
}
