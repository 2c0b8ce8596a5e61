package store

import (
	"context"
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
)

// maxTestDomains is how many test domains can be asked for beside a domain.
const maxTestDomains = 10

// IssueLicenses gives the license of a purchase for a domain, and one for each of
// some test domains, which are free: a site as its owner builds an app for it. The
// license of the domain is the first. When something is wrong with one of the
// domains, none is issued.
//
// Beside the errors of [Store.IssueLicense] there is one of kind Invalid
// (domain_invalid) with Fields "tests": a test domain that is none, or too many.
func (s *Store) IssueLicenses(ctx context.Context, a people.Actor, issuer, code, domain string, tests []string) ([]SignedLicense, error) {
	h, err := s.holding(ctx, a, code)
	if err != nil {
		return nil, err
	}
	if _, err := h.parse(domain); err != nil {
		return nil, err
	}
	if err := h.checkTests(tests); err != nil {
		return nil, err
	}
	var all []SignedLicense
	for _, one := range append([]string{domain}, tests...) {
		l, err := s.IssueLicense(ctx, a, issuer, code, one)
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

// checkTests makes sure that a test domain uses up nothing.
func (h holding) checkTests(tests []string) error {
	if len(tests) > maxTestDomains {
		return badTests(fmt.Sprintf("That is too much at once: ask for at most %d test domains", maxTestDomains))
	}
	for _, test := range tests {
		d, err := h.parse(test)
		if err != nil {
			return badTests(fault.Message(err))
		}
		if !h.isFree(d) {
			return badTests(d.Name + " is no test domain, so a license for it would count; test domains are localhost, names that end in .test or .local, private addresses, and the staging hosts that the seller named")
		}
	}
	return nil
}

func badTests(message string) error {
	return fault.WithFields(fault.Invalid(countersign.CodeDomainInvalid, message), map[string]string{"tests": message})
}

// LicensesInUse lists the licenses of a good purchase that have not ended, in the
// order of their issue, for whoever has its code.
func (s *Store) LicensesInUse(ctx context.Context, a people.Actor, code string) ([]License, error) {
	h, err := s.holding(ctx, a, code)
	if err != nil {
		return nil, err
	}
	var all []License
	for _, l := range h.Licenses {
		if l.Ended == "" {
			all = append(all, License{License: l, Licensee: h.Licensee})
		}
	}
	return all, nil
}
