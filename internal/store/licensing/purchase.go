package licensing

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/store/validation"
	"github.com/countersign/countersign/license"
)

// maxFreeDomains is how many test domains a purchase may have licenses for.
const maxFreeDomains = 50

// purchaseLicenses is a valid purchase with its licenses, for an actor who asks for one.
type purchaseLicenses struct {
	storedb.PurchaseLicenses
	known int  // how many licenses there were, also when some are left out
	buyer bool // neither the operator nor a user
	now   time.Time
}

// findPurchase finds a valid purchase by its code. A buyer with a workspace finds those of
// that workspace alone. For a buyer, a purchase that is not active takes as long as one that
// does not exist.
func (s *Service) findPurchase(ctx context.Context, a people.Actor, text string) (purchaseLicenses, error) {
	if err := access.Somewhere(a, access.LicensePurchases); err != nil {
		return purchaseLicenses{}, err
	}
	if err := s.gate.Ready(); err != nil {
		return purchaseLicenses{}, err
	}
	code, find := rules.LookupCode(text), purchaseQuery(s.db.PurchaseLicenses)
	if a.Kind == people.KindBuyer {
		find = s.db.ActivePurchaseLicenses
	}
	h, err := s.findByCode(ctx, find, code)
	if err == nil {
		err = access.In(ctx, s.db, a, h.WorkspaceID, access.LicensePurchases, validation.ErrNotFound)
	}
	return s.hold(a, h, err)
}

// purchaseQuery finds a purchase with its licenses.
type purchaseQuery func(context.Context, storedb.Digest) (storedb.PurchaseLicenses, error)

// findByCode reads a purchase by its code.
func (s *Service) findByCode(ctx context.Context, find purchaseQuery, code string) (storedb.PurchaseLicenses, error) {
	folded := rules.FoldCode(code)
	digest := s.gate.Box().CodeDigest(folded)
	h, err := find(ctx, digest)
	if err == nil {
		err = s.purchases.SameCode(h.Code, folded, digest)
	}
	return h, err
}

// lockPurchase reads a purchase again, for an actor who may still license it, and locks it and
// its licenses.
func (s *Service) lockPurchase(ctx context.Context, tx *storedb.DB, a people.Actor, purchase int64) (purchaseLicenses, error) {
	h, err := tx.LockPurchaseLicenses(ctx, purchase)
	if err == nil {
		err = access.In(ctx, tx, a, h.WorkspaceID, access.LicensePurchases, validation.ErrNotFound)
	}
	return s.hold(a, h, err)
}

func (s *Service) hold(a people.Actor, found storedb.PurchaseLicenses, err error) (purchaseLicenses, error) {
	if err := s.gate.Ready(); err != nil { // the digest was made with a key file that was replaced
		return purchaseLicenses{}, err
	}
	h := purchaseLicenses{PurchaseLicenses: found, known: len(found.Licenses), buyer: a.Kind == people.KindBuyer, now: s.now()}
	switch {
	case err != nil:
		return purchaseLicenses{}, sqldb.IfNotFound(err, validation.ErrNotFound)
	case h.buyer && (h.State != storedb.StateActive || h.hasEnding(storedb.EndingRevoked)):
		return purchaseLicenses{}, validation.ErrNotFound
	case h.State != storedb.StateActive:
		return purchaseLicenses{}, fault.Conflict("purchase_"+string(h.State), "No license: "+validation.StateReason(h.Purchase))
	}
	return h, nil
}

// parseDomain reads a domain. The message of its error begins with a capital letter, as a program shows it.
func parseDomain(domain string, rule license.DomainRule) (license.Domain, error) {
	d, err := license.ParseDomain(domain, rule)
	if apiErr := fault.Of(err); apiErr != nil {
		return d, fault.WithMessage(apiErr, fault.Sentence(err))
	}
	return d, err
}

// domainRule is the rule of an item for the domains of its licenses.
func domainRule(l Rule) license.DomainRule {
	return license.DomainRule{Wildcard: l.Wildcard, Staging: l.StagingHosts}
}

// DomainOf is the domain of a license as it is written.
func DomainOf(l storedb.License) license.Domain {
	return license.Domain{Name: l.Domain, Wildcard: l.Wildcard}
}

func (h purchaseLicenses) hasEnding(how storedb.Ending) bool {
	return slices.ContainsFunc(h.Licenses, func(l storedb.License) bool { return l.Ended == how })
}

// find returns the license in use that covers a domain.
func (h purchaseLicenses) find(d license.Domain) (storedb.License, bool) {
	for _, l := range h.Licenses {
		is := covers(l, h.Licensing, d.Name)
		if d.Wildcard {
			is = l.Domain == d.Name && l.Wildcard && h.Licensing.Wildcard
		}
		if l.Ended == "" && is {
			return l, true
		}
	}
	return storedb.License{}, false
}

// licenseNames are the domains that a license opens for. A wildcard ends with the item's
// rule for it.
func licenseNames(l storedb.License, rule Rule) []string {
	return license.Domain{Name: l.Domain, Wildcard: l.Wildcard && rule.Wildcard}.Names()
}

// covers reports whether a license is for a site at a host.
func covers(l storedb.License, rule Rule, host string) bool {
	return slices.ContainsFunc(licenseNames(l, rule), func(name string) bool { return license.Covers(name, host) })
}

// isFree reports whether licenses for a domain do not count.
func (h purchaseLicenses) isFree(d license.Domain) bool {
	return license.IsFree(d.Name, h.Licensing.StagingHosts...)
}

// inUse lists the domains that have a license in use: free domains, or those that count.
func (h purchaseLicenses) inUse(free bool) countersign.LicenseDomains {
	in := countersign.LicenseDomains{Licenses: []countersign.LicenseInUse{}}
	for _, l := range h.Licenses {
		if l.Ended == "" && l.Free == free {
			domain := DomainOf(l).String()
			in.Domains = append(in.Domains, domain)
			in.Licenses = append(in.Licenses, countersign.LicenseInUse{Domain: domain, IssuedAt: l.IssuedAt})
		}
	}
	return in
}

// limit returns how many domains of d's kind (test or not) the purchase may have. A revoked test domain counts for a
// year; otherwise a buyer could fill the list of revoked licenses.
func (h purchaseLicenses) limit(d license.Domain) int {
	if h.isFree(d) {
		return max(0, maxFreeDomains-len(h.endedInAYear(isFreeRevoked)))
	}
	return h.Licensing.Domains(h.Purchase.License)
}

func isFreeRevoked(l storedb.License) bool { return l.Free && l.Ended == storedb.EndingGivenUp }

// endedInAYear returns when licenses ended within the last year, in no order.
func (h purchaseLicenses) endedInAYear(is func(storedb.License) bool) (ended []time.Time) {
	for _, l := range h.Licenses {
		if is(l) && h.now.Before(l.EndedAt.Add(moveYear)) {
			ended = append(ended, l.EndedAt.Time)
		}
	}
	return ended
}

// widens finds the license in use that a wildcard is to be added to.
func (h purchaseLicenses) widens(d license.Domain) (storedb.License, bool) {
	for _, l := range h.Licenses {
		if l.Ended == "" && l.Domain == d.Name {
			return l, d.Wildcard && !l.Wildcard
		}
	}
	return storedb.License{}, false
}

// checkLimit returns an error unless one more domain may be licensed.
func (h purchaseLicenses) checkLimit(d license.Domain) error {
	if _, widens := h.widens(d); widens || len(h.inUse(h.isFree(d)).Domains) < h.limit(d) {
		return nil
	}
	return h.limitReached(d)
}

func (h purchaseLicenses) limitReached(d license.Domain) error {
	in := h.inUse(h.isFree(d))
	message := "All domains of this purchase code are licensed"
	if h.isFree(d) {
		message = fmt.Sprintf("All %d test domains of this purchase code are used, and a revoked one counts for a year", maxFreeDomains)
	}
	if len(in.Domains) > 0 {
		message += "; licensed: " + strings.Join(in.Domains, ", ")
	}
	return fault.WithData(fault.Conflict(countersign.CodeLimitReached, message), in)
}

// without is the purchaseLicenses after one of its licenses has ended.
func (h purchaseLicenses) without(ended storedb.License) purchaseLicenses {
	h.Licenses = slices.DeleteFunc(slices.Clone(h.Licenses), func(l storedb.License) bool { return l.ID == ended.ID })
	return h
}

// moveYear is the time in which moves are counted.
const moveYear = 365 * 24 * time.Hour
