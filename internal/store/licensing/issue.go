package licensing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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

// License binds a purchase to a domain.
type License = storedb.Licensed

// Signed is a license and its file's text.
type Signed struct {
	License
	Text string
}

// clockSlack is how far a client's clock may be behind when it opens a license
// that was issued just now.
const clockSlack = 24 * time.Hour

// Issue returns the license of a purchase for a domain. One that is there is
// returned again, and nothing is written. issuer is the store's own address.
//
// Without a valid code, the error is that of a validation. It is of kind Invalid
// (domain_invalid) for a domain that can't have a license, and a Conflict
// (limit_reached) with the domains in use when none is left.
func (s *Service) Issue(ctx context.Context, a people.Actor, issuer, code, domain string) (Signed, error) {
	return onlyLicense(s.IssueAll(ctx, a, issuer, Request{Code: code, Domain: domain}))
}

// onlyLicense is the license of a request for one domain.
func onlyLicense(all []Signed, err error) (Signed, error) {
	if err != nil {
		return Signed{}, err
	}
	return all[0], nil
}

// IssueAll returns the license of a purchase for a domain, and one for each of
// some test domains, which are free: a site as its owner builds an app for it. The
// license of the domain is the first. When one of the domains is refused, none is
// issued.
//
// Beside the errors of [Service.Issue] there are those of the test domains, with
// Fields "tests": domain_invalid for an invalid one or too many at once, and
// limit_reached.
func (s *Service) IssueAll(ctx context.Context, a people.Actor, issuer string, q Request) ([]Signed, error) {
	return s.license(ctx, a, issuer, q, func(h purchaseLicenses, domains []license.Domain) (purchaseLicenses, error) {
		return s.addLicenses(ctx, a, h, domains)
	})
}

// license reads a purchase, lets write add the licenses that are missing, and signs
// those of all domains of a request.
func (s *Service) license(ctx context.Context, a people.Actor, issuer string, q Request, write func(purchaseLicenses, []license.Domain) (purchaseLicenses, error)) ([]Signed, error) {
	for {
		h, err := s.findPurchase(ctx, a, q.Code)
		if err != nil {
			return nil, err
		}
		domains, err := h.parse(q)
		if err != nil {
			return nil, err
		}
		h, err = write(h, domains)
		if errors.Is(err, errMeanwhile) {
			continue // somebody else got one, so it may be full by now
		}
		if err != nil {
			return nil, err
		}
		return s.signLicenses(ctx, issuer, h, domains)
	}
}

// addLicenses writes the licenses that were missing when h was read, all of them in
// one transaction, and returns the purchase with them. The error is errMeanwhile when
// the purchase has changed since.
func (s *Service) addLicenses(ctx context.Context, a people.Actor, h purchaseLicenses, domains []license.Domain) (purchaseLicenses, error) {
	h, fresh, err := h.plan(domains, countersign.At(s.now()))
	if err != nil || len(fresh) == 0 {
		return h, err
	}
	if _, err := s.signingKeys(ctx); err != nil { // a store without a key creates it first
		return purchaseLicenses{}, err
	}
	return h, s.db.Tx(ctx, func(tx *storedb.DB) error {
		if err := access.In(ctx, tx, a, h.WorkspaceID, access.LicensePurchases, validation.ErrNotFound); err != nil {
			return err
		}
		if err := h.write(ctx, tx, fresh); err != nil {
			return err
		}
		return s.auditIssued(ctx, tx, a, h, fresh)
	})
}

// auditIssued records that licenses were issued.
func (s *Service) auditIssued(ctx context.Context, tx *storedb.DB, a people.Actor, h purchaseLicenses, issued []newLicense) error {
	for _, n := range issued {
		if err := people.Record(ctx, &tx.DB, s.now(), a, people.Event{Action: actionIssue, Workspace: h.Workspace, Subject: n.ID, Detail: DomainOf(n.License).String()}); err != nil {
			return err
		}
	}
	return nil
}

// signLicenses signs the licenses that a purchase has for some domains.
func (s *Service) signLicenses(ctx context.Context, issuer string, h purchaseLicenses, domains []license.Domain) ([]Signed, error) {
	all := make([]Signed, len(domains))
	for i, d := range domains {
		l, found := h.find(d)
		if !found {
			return nil, fmt.Errorf("store: did not write a license for %s", d)
		}
		var err error
		if all[i], err = s.signLicense(ctx, issuer, License{License: l, PurchaseItem: h.PurchaseItem}); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// signLicense creates the text of a license. The same license under the same key
// has the same text.
func (s *Service) signLicense(ctx context.Context, issuer string, l License) (Signed, error) {
	keys, err := s.signingKeys(ctx)
	if err != nil {
		return Signed{}, err
	}
	said := license.License{
		ID: l.ID, Issuer: keys.issuer(issuer), IssuedAt: l.IssuedAt.Time, NotBefore: l.IssuedAt.Add(-clockSlack),
		ItemID: l.ItemID, ItemName: l.ItemName, LicenseType: l.Purchase.License, Purchase: cmp.Or(l.Claim, s.gate.Box().CodeName(rules.FoldCode(l.Code))),
		Domain: l.Domain, Domains: licenseNames(l.License, l.Licensing),
	}
	if l.Support {
		said.SupportedUntil = l.SupportedUntil
	}
	text, err := license.Sign(said, keys.signer)
	if err != nil {
		return Signed{}, fmt.Errorf("store: license %s: %w", l.ID, err)
	}
	return Signed{License: l, Text: text}, nil
}

// Filter narrows a list of licenses; zero values narrow nothing.
type Filter struct {
	Workspace string
	Item      int64
	// Code is a purchase code, Purchase a purchase's id.
	Code     string
	Purchase int64
	Limit    int
}

// List calls fn with licenses, the newest first. Without a workspace and a purchase they
// are those of the whole store, for its administrators.
func (s *Service) List(ctx context.Context, a people.Actor, f Filter, fn func(License) error) error {
	filter := storedb.LicenseFilter{Workspace: f.Workspace, Item: f.Item, Purchase: f.Purchase, Limit: f.Limit}
	switch {
	case f.Workspace != "":
		if _, err := access.Workspace(ctx, s.db, a, f.Workspace, access.View); err != nil {
			return err
		}
	case f.Purchase == 0 && f.Code == "":
		if err := access.May(a, access.Administer); err != nil {
			return err
		}
	}
	if f.Purchase != 0 {
		if _, err := s.purchases.Code(ctx, a, f.Purchase); err != nil {
			return err
		}
	}
	if f.Code != "" {
		p, err := s.purchases.Show(ctx, a, f.Code)
		if err != nil {
			return err
		}
		filter.Purchase = p.Purchase.ID
	}
	return s.db.Licenses(ctx, filter, fn)
}

// InUse lists the licenses of a valid purchase that have not ended, in the
// order of their issue, for a caller with its code.
func (s *Service) InUse(ctx context.Context, a people.Actor, code string) ([]License, error) {
	h, err := s.findPurchase(ctx, a, code)
	if err != nil {
		return nil, err
	}
	var all []License
	for _, l := range h.Licenses {
		if l.Ended == "" {
			all = append(all, License{License: l, PurchaseItem: h.PurchaseItem})
		}
	}
	return all, nil
}

// Show reads one license by its id.
func (s *Service) Show(ctx context.Context, a people.Actor, id string) (License, error) {
	return s.find(ctx, a, id, access.View)
}

// find reads one license by its id, for an actor with a permission in its workspace.
func (s *Service) find(ctx context.Context, a people.Actor, id string, what access.Permission) (License, error) {
	if err := access.Somewhere(a, what); err != nil {
		return License{}, err
	}
	if !license.ValidID(id) {
		return License{}, noLicense(id)
	}
	l, err := s.db.License(ctx, id)
	if err == nil {
		err = access.In(ctx, s.db, a, l.WorkspaceID, what, noLicense(id))
	}
	if err != nil {
		return License{}, sqldb.IfNotFound(err, noLicense(id))
	}
	return l, nil
}

func noLicense(id string) error {
	return fault.NotFound("license_not_found", fmt.Sprintf("No license %q", id))
}

// endReason returns how a license ended, and when.
func endReason(l License) string {
	how := string(l.Ended)
	if l.Ended == storedb.EndingGivenUp {
		how = "revoked by its buyer"
	}
	return fmt.Sprintf("this license was %s on %s", how, l.EndedAt.Format("2006-01-02"))
}
