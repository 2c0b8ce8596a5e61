package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/countersign/countersign/internal/cached"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/license"
	"golang.org/x/sync/singleflight"
)

// License binds a purchase to a domain.
type License = storedb.Licensed

// SignedLicense is a license and its file's text.
type SignedLicense struct {
	License
	Text string
}

const (
	// maxFreeDomains is how many test domains a purchase may have licenses for.
	maxFreeDomains = 50
	// clockSlack is how far a client's clock may be behind when it opens a license
	// that was issued just now.
	clockSlack = 24 * time.Hour
)

// licenses is what the store caches of licenses.
type licenses struct {
	keys    cached.Value[licenseKeys]
	making  singleflight.Group // of the first key
	revoked cached.Value[revokedLicenses]
}

// IssueLicense gives the license of a purchase for a domain. One that is there is
// given again, and nothing is written. issuer is the store's own address.
//
// To whoever has no good code, the error is that of a validation. It is of kind
// Invalid (domain_invalid) for a domain that can't have a license, and a Conflict
// (limit_reached) with the domains in use when none is left.
func (s *Store) IssueLicense(ctx context.Context, a people.Actor, issuer, code, domain string) (SignedLicense, error) {
	for {
		h, d, err := s.holdingFor(ctx, a, code, domain)
		if err != nil {
			return SignedLicense{}, err
		}
		l, found := h.find(d)
		if !found {
			l, err = s.addLicense(ctx, a, h, d)
		}
		if errors.Is(err, errMeanwhile) {
			continue // somebody else got one, so it may be full by now
		}
		if err != nil {
			return SignedLicense{}, err
		}
		return s.signLicense(ctx, issuer, License{License: l, Licensee: h.Licensee})
	}
}

// addLicense writes a license that was not there when h was read, in one
// transaction. The error is errMeanwhile when the purchase has changed since.
func (s *Store) addLicense(ctx context.Context, a people.Actor, h holding, d license.Domain) (l storedb.License, err error) {
	if err := h.room(d); err != nil { // before others are made to wait
		return l, err
	}
	if _, err := s.signingKeys(ctx); err != nil { // a store without a key makes it first
		return l, err
	}
	err = s.db.Tx(ctx, func(tx *storedb.DB) error {
		if l, err = h.add(ctx, tx, d, s.timestamp()); err != nil {
			return err
		}
		return s.audit(ctx, tx, a, "license.issue", h.Workspace, l.ID, d.String())
	})
	return l, err
}

// signLicense makes the text of a license. The same license under the same key
// has the same text.
func (s *Store) signLicense(ctx context.Context, issuer string, l License) (SignedLicense, error) {
	keys, err := s.signingKeys(ctx)
	if err != nil {
		return SignedLicense{}, err
	}
	said := license.License{
		ID: l.ID, Issuer: s.issuer(issuer, keys), IssuedAt: l.IssuedAt.Time, NotBefore: l.IssuedAt.Add(-clockSlack),
		ItemID: l.ItemID, ItemName: l.ItemName, LicenseType: l.Purchase.License, Purchase: s.box.Load().CodeName(foldCode(l.Code)),
		Domain: l.Domain, Domains: licenseNames(l.License, l.Licensing),
	}
	if l.Support {
		said.SupportedUntil = l.SupportedUntil
	}
	text, err := license.Sign(said, keys.signer)
	if err != nil {
		return SignedLicense{}, fmt.Errorf("store: license %s: %w", l.ID, err)
	}
	return SignedLicense{License: l, Text: text}, nil
}

// issuer names the store in what it signs: its address, else its key.
func (s *Store) issuer(address string, keys *licenseKeys) string {
	if address != "" {
		return address
	}
	return "urn:countersign:" + keys.signer.ID()
}

// LicenseFilter narrows a list of licenses; zero values narrow nothing.
type LicenseFilter struct {
	Workspace string
	Item      int64
	// Code is a purchase code.
	Code  string
	Limit int
}

// Licenses calls fn with licenses, the newest first, for the operator.
func (s *Store) Licenses(ctx context.Context, a people.Actor, f LicenseFilter, fn func(License) error) error {
	if err := may(a, manage); err != nil {
		return err
	}
	filter := storedb.LicenseFilter{Workspace: f.Workspace, Item: f.Item, Limit: f.Limit}
	if f.Workspace != "" {
		if _, err := s.Workspace(ctx, a, f.Workspace); err != nil {
			return err
		}
	}
	if f.Code != "" {
		p, err := s.ShowPurchase(ctx, a, f.Code)
		if err != nil {
			return err
		}
		filter.Purchase = &p.Purchase.Digest
	}
	return s.db.Licenses(ctx, filter, fn)
}
