package licensing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/store/validation"
	"github.com/countersign/countersign/license"
	"github.com/google/uuid"
)

// holding is a good purchase with its licenses, for somebody who wants one.
type holding struct {
	storedb.Holding
	known int  // how many licenses there were, also when some are left out
	buyer bool // not the operator
	now   time.Time
}

// holding finds a good purchase by its code. A buyer with a workspace finds those of
// that workspace alone. A purchase that is not active takes a buyer as long as one
// that is not there.
func (s *Service) holding(ctx context.Context, a people.Actor, text string) (holding, error) {
	if err := access.May(a, access.LicensePurchases); err != nil {
		return holding{}, err
	}
	if err := s.gate.Ready(); err != nil {
		return holding{}, err
	}
	code, find := rules.LookupCode(text), findHolding(s.db.Holding)
	if a.Kind == people.KindBuyer {
		find = s.db.ActiveHolding
	}
	h, err := s.holdingByCode(ctx, find, code)
	if err == nil && a.Workspace != 0 && a.Workspace != h.WorkspaceID {
		err = validation.ErrNotFound
	}
	return s.hold(a, h, err)
}

// findHolding is a query that finds a purchase with its licenses.
type findHolding func(context.Context, storedb.Digest) (storedb.Holding, error)

// holdingByCode reads a purchase by its code.
func (s *Service) holdingByCode(ctx context.Context, find findHolding, code string) (storedb.Holding, error) {
	folded := rules.FoldCode(code)
	digest := s.gate.Box().CodeDigest(folded)
	h, err := find(ctx, digest)
	if err == nil {
		err = s.purchases.SameCode(h.Code, folded, digest)
	}
	return h, err
}

// lockHolding reads a purchase again, with a lock on it and its licenses.
func (s *Service) lockHolding(ctx context.Context, tx *storedb.DB, a people.Actor, purchase int64) (holding, error) {
	h, err := tx.LockHolding(ctx, purchase)
	return s.hold(a, h, err)
}

func (s *Service) hold(a people.Actor, found storedb.Holding, err error) (holding, error) {
	if err := s.gate.Ready(); err != nil { // the digest was made with a key file that was replaced
		return holding{}, err
	}
	h := holding{Holding: found, known: len(found.Licenses), buyer: a.Kind == people.KindBuyer, now: s.now()}
	switch {
	case err != nil:
		return holding{}, sqldb.IfNotFound(err, validation.ErrNotFound)
	case h.buyer && (h.State != storedb.StateActive || h.hasEnding(storedb.EndingRevoked)):
		return holding{}, validation.ErrNotFound
	case h.State != storedb.StateActive:
		return holding{}, fault.Conflict("purchase_"+string(h.State), "No license: "+validation.StateReason(h.Purchase))
	}
	return h, nil
}

// parseDomain reads a domain by the rule of an item.
func parseDomain(domain string, l Rule) (license.Domain, error) {
	d, err := license.ParseDomain(domain, license.DomainRule{Wildcard: l.Wildcard, Staging: l.StagingHosts})
	return d, asSentence(err)
}

// asSentence begins the message of an error with a capital letter, as a program
// shows it to somebody.
func asSentence(err error) error {
	ours := fault.Of(err)
	if ours == nil {
		return err
	}
	told := *ours
	begin, size := utf8.DecodeRuneInString(told.Message)
	told.Message = string(unicode.ToUpper(begin)) + told.Message[size:]
	return &told
}

// DomainOf is the domain of a license as it is written.
func DomainOf(l storedb.License) license.Domain {
	return license.Domain{Name: l.Domain, Wildcard: l.Wildcard}
}

func (h holding) hasEnding(how storedb.Ending) bool {
	for _, l := range h.Licenses {
		if l.Ended == how {
			return true
		}
	}
	return false
}

// find gives the license in use that is for a domain already.
func (h holding) find(d license.Domain) (storedb.License, bool) {
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
	for _, name := range licenseNames(l, rule) {
		if license.Covers(name, host) {
			return true
		}
	}
	return false
}

// isFree reports whether licenses for a domain do not count.
func (h holding) isFree(d license.Domain) bool {
	return license.IsFree(d.Name, h.Licensing.StagingHosts...)
}

// inUse tells which domains licenses are in use for, free ones or those that count.
func (h holding) inUse(free bool) countersign.LicenseDomains {
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

// limit is how many domains of the sort of d the purchase may have. A test domain
// that was given up keeps its place for a year, or else whoever gives it up and asks
// for it again could fill the list of revoked licenses.
func (h holding) limit(d license.Domain) int {
	if h.isFree(d) {
		return max(0, maxFreeDomains-len(h.endedInAYear(isFreeGivenUp)))
	}
	return h.Licensing.Domains(h.Purchase.License)
}

func isFreeGivenUp(l storedb.License) bool { return l.Free && l.Ended == storedb.EndingGivenUp }

// endedInAYear is when those licenses ended that did in the last year, in no order.
func (h holding) endedInAYear(is func(storedb.License) bool) (ended []time.Time) {
	for _, l := range h.Licenses {
		if is(l) && h.now.Before(l.EndedAt.Add(moveYear)) {
			ended = append(ended, l.EndedAt.Time)
		}
	}
	return ended
}

// widens finds the license in use that a wildcard is to be added to.
func (h holding) widens(d license.Domain) (storedb.License, bool) {
	for _, l := range h.Licenses {
		if l.Ended == "" && l.Domain == d.Name {
			return l, d.Wildcard && !l.Wildcard
		}
	}
	return storedb.License{}, false
}

// room reports whether one more domain may be licensed.
func (h holding) room(d license.Domain) error {
	if _, widens := h.widens(d); widens || len(h.inUse(h.isFree(d)).Domains) < h.limit(d) {
		return nil
	}
	return h.noRoom(d)
}

func (h holding) noRoom(d license.Domain) error {
	in := h.inUse(h.isFree(d))
	message := "No domain is left for this purchase code"
	if h.isFree(d) {
		message = fmt.Sprintf("No test domain is left for this purchase code: it may have %d, and one that was given up counts for a year", maxFreeDomains)
	}
	if len(in.Domains) > 0 {
		message += "; it is in use for " + strings.Join(in.Domains, ", ")
	}
	return fault.WithData(fault.Conflict(countersign.CodeLimitReached, message), in)
}

// errMeanwhile says that a purchase or its licenses are not as they were read.
var errMeanwhile = errors.New("licensing: the purchase has changed meanwhile")

// newLicense is a license that is to be written: a new one, or one that is in use
// and gets a wildcard.
type newLicense struct {
	storedb.License
	widens bool
}

// plan returns the purchase with a license for each of some domains, and those of
// them that are still to be written. It is refused when one of them is.
func (h holding) plan(domains []license.Domain, now countersign.Timestamp) (holding, []newLicense, error) {
	var fresh []newLicense
	for i, d := range domains {
		if _, found := h.find(d); found {
			continue
		}
		if err := h.room(d); err != nil {
			return h, nil, aboutTest(err, i > 0)
		}
		n := newLicense{}
		if n.License, n.widens = h.widens(d); n.widens {
			h = h.without(n.License)
			n.Wildcard = true
		} else {
			n.License = storedb.License{
				ID: uuid.Must(uuid.NewV7()).String(), PurchaseID: h.Purchase.ID, Domain: d.Name, Wildcard: d.Wildcard, Free: h.isFree(d), IssuedAt: now,
			}
		}
		h.Licenses = append(slices.Clip(h.Licenses), n.License)
		fresh = append(fresh, n)
	}
	return h, fresh, nil
}

// write writes new licenses if nothing has changed since h was read, else the error
// is errMeanwhile and the transaction must not be committed. Those of the operator
// take the place of those that were revoked.
func (h holding) write(ctx context.Context, tx *storedb.DB, fresh []newLicense) error {
	if !h.buyer && len(fresh) > 0 {
		if err := h.replaceRevoked(ctx, tx); err != nil {
			return err
		}
	}
	known := h.known
	for _, n := range fresh {
		var written bool
		var err error
		if n.widens {
			written, err = tx.WidenLicense(ctx, n.License)
		} else {
			written, err = tx.AddLicense(ctx, n.License, known)
			known++
		}
		if errors.Is(err, sqldb.ErrExists) || (err == nil && !written) {
			return errMeanwhile
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (h holding) replaceRevoked(ctx context.Context, tx *storedb.DB) error {
	for _, l := range h.Licenses {
		if l.Ended == storedb.EndingRevoked {
			if err := tx.EndLicense(ctx, l.ID, storedb.EndingReplaced, l.EndedAt); err != nil {
				return err
			}
		}
	}
	return nil
}
