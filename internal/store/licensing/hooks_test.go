package licensing

import (
	"context"

	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/license"
)

// ErrMeanwhile is errMeanwhile.
var ErrMeanwhile = errMeanwhile

// Stale reads a purchase and returns a function that issues a license by what was read.
func (s *Service) Stale(ctx context.Context, a people.Actor, code string) (func(ctx context.Context, domain string) error, error) {
	h, err := s.findPurchase(ctx, a, code)
	return func(ctx context.Context, domain string) error {
		domains, err := h.parse(Request{Domain: domain})
		if err == nil {
			_, err = s.addLicenses(ctx, a, h, domains)
		}
		return err
	}, err
}

// MoveTo moves the license that choose returns, and reports whether the domain has one
// then.
func (s *Service) MoveTo(ctx context.Context, a people.Actor, purchase int64, domain string, choose func() License) (found bool, err error) {
	d, err := license.ParseDomain(domain, license.DomainRule{})
	if err != nil {
		return false, err
	}
	h, err := s.moveLicense(ctx, a, purchase, []license.Domain{d}, func(purchaseLicenses) (storedb.License, error) { return choose().License, nil })
	return h.licensed(d), err
}

// Database is the database of the store, Box its key file.
func (s *Service) Database() *sqldb.DB { return s.db.Queries.DB() }
func (s *Service) Box() *keyfile.Box   { return s.gate.Box() }
