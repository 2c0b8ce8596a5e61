package license

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/input"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/license"
)

// License is a license file that the addon got from the store: it ties a purchase
// to the domain of the site, and the mobile client opens it (spec 5.7).
type License struct {
	ID int64
	// LicenseID is the store's name for it.
	LicenseID string
	// Code is the purchase code that it is of.
	Code   PurchaseCode
	Domain string
	// Domains are those that the file opens for, Domain among them.
	Domains        []string
	ItemID         int64
	ItemName       string
	LicenseType    string    // Regular or Extended
	SupportedUntil time.Time // zero: without support
	IssuedAt       time.Time // by the store, for the first time
	MadeAt         time.Time // here
	MovedAt        time.Time // zero: it was not moved to another domain
	CheckedAt      time.Time // zero: the store was not asked since
	// Answer is what the store said then: one of the countersign.Check constants.
	Answer string
}

// Good reports whether the file can be used, as far as the addon knows.
func (l License) Good() bool {
	said := l.Answer == "" || l.Answer == countersign.CheckValid || l.Answer == countersign.CheckSupportLapsed
	return said && l.MovedAt.IsZero()
}

// Free reports whether its domain is a test domain, which does not count.
func (l License) Free() bool { return license.IsFree(l.Domain) }

// Opens reports whether a client with the file starts on a host.
func (l License) Opens(host string) bool {
	return slices.ContainsFunc(l.Domains, func(domain string) bool { return license.Covers(domain, host) })
}

// Licenses is what an addon knows of licenses.
type Licenses struct {
	// Store is the address of the store that was used last, "" while there is none.
	Store string
	// Codes are the kept purchase codes, the newest first.
	Codes []PurchaseCode
	// Files are the license files, the newest first.
	Files []License
}

// List lists the license files and what is needed for another one.
func (s *Service) List(ctx context.Context, actor people.Actor) (Licenses, error) {
	if err := s.access.May(actor, access.ManageSite); err != nil {
		return Licenses{}, err
	}
	var known Licenses
	err := s.db.Snapshot(ctx, func(tx *addondb.DB) (err error) {
		if known.Store, err = tx.Meta(ctx, metaStore); err != nil {
			return err
		}
		known.Store = oneStore(known.Store)
		codes, err := tx.PurchaseCodes(ctx)
		if err != nil {
			return err
		}
		for _, c := range codes {
			known.Codes = append(known.Codes, purchaseCodeOf(c))
		}
		files, err := tx.Licenses(ctx)
		for _, l := range files {
			known.Files = append(known.Files, licenseOf(l, codes))
		}
		return err
	})
	return known, err
}

func licenseOf(l addondb.License, codes []addondb.PurchaseCode) License {
	out := License{
		ID: l.ID, LicenseID: l.LicenseID, Code: PurchaseCode{ID: l.CodeID}, Domain: l.Domain, Domains: l.Domains.V,
		ItemID: l.ItemID, ItemName: l.ItemName, LicenseType: l.LicenseType, SupportedUntil: l.SupportedUntil.Time,
		IssuedAt: l.IssuedAt.Time, MadeAt: l.MadeAt.Time, MovedAt: l.MovedAt.Time, CheckedAt: l.CheckedAt.Time, Answer: l.Answer,
	}
	for _, c := range codes {
		if c.ID == l.CodeID {
			out.Code = purchaseCodeOf(c)
		}
	}
	return out
}

// Find reads one and its file's text. Its error is of kind NotFound.
func (s *Service) Find(ctx context.Context, actor people.Actor, id int64) (l License, text string, err error) {
	if err := s.access.May(actor, access.ManageSite); err != nil {
		return License{}, "", err
	}
	row, err := s.db.License(ctx, id)
	if err != nil {
		return License{}, "", sqldb.IfNotFound(err, fault.NotFound("license_not_found", "No such license file"))
	}
	codes, err := s.db.PurchaseCodes(ctx)
	return licenseOf(row, codes), row.File, err
}

// Make gets the license files of a purchase from the store, that of the
// domain first. A purchase code that was typed is kept before the store is asked,
// encrypted and for that store alone, so that nothing is lost when it can't be
// reached; a code that it does not know is forgotten again. The store's address
// becomes the site's once it has answered for the code.
//
// Errors tell by their Code what happened. Of kind Invalid, with Fields "store",
// "code", "domain" and "tests": license_order, code_of_other_store,
// purchase_not_found, domain_invalid. Of kind Conflict: limit_reached, whose Data is
// the countersign.LicenseDomains in use. Of kind Unavailable: store_unreachable,
// which is the same for every reason.
func (s *Service) Make(ctx context.Context, actor people.Actor, o Order) ([]License, error) {
	if err := s.access.May(actor, access.ManageSite); err != nil {
		return nil, err
	}
	domains, err := o.check()
	if err != nil {
		return nil, err
	}
	c, err := s.orderCode(ctx, o)
	if err != nil {
		return nil, err
	}
	store := s.call(c.store, c.code)
	var all []License
	for _, d := range domains {
		signed, err := store.client.IssueLicense(ctx, store.code, d.String())
		if err != nil {
			return all, s.afterRefusal(ctx, actor, c, store.explain(err))
		}
		l, err := s.keep(ctx, actor, store, signed, keeping{code: c, domain: d})
		if err != nil {
			return all, err
		}
		all = append(all, l)
	}
	return all, nil
}

// Move frees a domain of a kept purchase code and gets the license file for
// another one, as the store allows it. Beside the errors of Make there are
// those of kind Conflict with the codes moves_used, move_too_soon and
// domain_not_activated, and of kind Invalid with Fields "domain" and the code
// domain_free.
func (s *Service) Move(ctx context.Context, actor people.Actor, codeID int64, from, domain string) (License, error) {
	if err := s.access.May(actor, access.ManageSite); err != nil {
		return License{}, err
	}
	d, err := license.ParseDomain(domain, license.DomainRule{Wildcard: true})
	if err != nil {
		return License{}, input.Invalid(countersign.CodeDomainInvalid, map[string]string{"domain": fault.Sentence(err)})
	}
	c, err := s.keptCode(ctx, codeID)
	if err != nil {
		return License{}, err
	}
	store := s.call(c.store, c.code)
	signed, err := store.client.MoveLicense(ctx, store.code, from, d.String())
	if err != nil {
		return License{}, store.explain(err)
	}
	return s.keep(ctx, actor, store, signed, keeping{code: c, domain: d, from: from})
}

// Check verifies a license with the store and saves the result. A store does not
// tell strangers that a license was revoked, so a not_found does not replace a known
// state.
func (s *Service) Check(ctx context.Context, actor people.Actor, id int64) (License, error) {
	l, _, err := s.Find(ctx, actor, id)
	if err != nil {
		return License{}, err
	}
	answer, err := s.call(l.Code.Store, "").check(ctx, l.LicenseID, l.Domain)
	if err != nil {
		return License{}, err
	}
	l.CheckedAt = s.access.Now()
	if l.Answer != countersign.CheckRevoked || answer != countersign.CheckNotFound {
		l.Answer = answer
	}
	return l, s.db.Tx(ctx, func(tx *addondb.DB) error {
		event := people.Event{Action: access.ActionLicenseCheck, Subject: l.Domain, Detail: l.LicenseID, After: answer}
		if err := tx.NoteAnswer(ctx, id, l.Answer, s.access.Timestamp()); err != nil {
			return err
		}
		return s.access.Audit(ctx, tx, actor, event)
	})
}

// keeping describes what a license is that is to be kept. from is the domain that was
// given up for it, "" for none.
type keeping struct {
	code   storedCode
	domain license.Domain
	from   string
}

// keep verifies what the store sent and keeps it.
func (s *Service) keep(ctx context.Context, actor people.Actor, store *storeCall, signed countersign.License, k keeping) (License, error) {
	said, err := store.open(ctx, signed, k.domain, s.access.Now())
	if err != nil {
		return License{}, err
	}
	row := addondb.License{
		LicenseID: said.ID, CodeID: k.code.id, Domain: said.Domain, Domains: sqldb.JSON[[]string]{V: said.Domains},
		ItemID: said.ItemID, ItemName: said.ItemName, LicenseType: said.LicenseType,
		SupportedUntil: sqldb.Time{Time: said.SupportedUntil.Time}, IssuedAt: sqldb.Time{Time: said.IssuedAt}, MadeAt: s.access.Timestamp(),
		File: signed.License,
	}
	var codes []addondb.PurchaseCode
	err = s.db.Tx(ctx, func(tx *addondb.DB) error {
		if row.ID, err = tx.PutLicense(ctx, row); err != nil {
			return err
		}
		if codes, err = tx.PurchaseCodes(ctx); err != nil {
			return err
		}
		event := people.Event{Action: access.ActionLicenseMake, Subject: row.Domain, Detail: row.LicenseID}
		if k.from != "" {
			event.Action, event.Before, event.After = access.ActionLicenseMove, k.from, row.Domain
			if err := tx.EndLicenses(ctx, k.code.id, normal(k.from), row.ID, s.access.Timestamp()); err != nil {
				return err
			}
		} else if err := s.setStore(ctx, tx, actor, k.code.store); err != nil {
			return err
		}
		return s.access.Audit(ctx, tx, actor, event)
	})
	return licenseOf(row, codes), err
}

// Kept returns the id of the code that was kept when somebody typed it for a store,
// 0 for none.
func (l Licenses) Kept(code, store string) int64 {
	store, _ = checkStore(store)
	hint := codeHint(strings.TrimSpace(code))
	for _, c := range l.Codes {
		if strings.EqualFold(c.Hint, hint) && c.Store == store {
			return c.ID
		}
	}
	return 0
}
