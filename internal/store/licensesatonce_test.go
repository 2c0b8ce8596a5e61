package store

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/countersign/countersign"
)

// A thousand at once, each for a domain of its own: one of them gets the license.
func TestOfAThousandAtOnceOneGetsTheLastDomain(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		const many = 1000
		var begin, all sync.WaitGroup
		var won, refused atomic.Int64
		begin.Add(1)
		for i := range many {
			all.Go(func() {
				begin.Wait()
				_, err := f.IssueLicense(t.Context(), buyer, issuer, "one", fmt.Sprintf("shop%d.example", i))
				for codeOf(err) == countersign.CodeBusy { // a slow machine can't serve them all in time: come back
					_, err = f.IssueLicense(t.Context(), buyer, issuer, "one", fmt.Sprintf("shop%d.example", i))
				}
				switch {
				case err == nil:
					won.Add(1)
				case codeOf(err) == "limit_reached":
					refused.Add(1)
				default:
					t.Errorf("request %d: %v", i, err)
				}
			})
		}
		begin.Done()
		all.Wait()
		if won.Load() != 1 || refused.Load() != many-1 || f.rows(t, "licenses") != 1 {
			t.Errorf("%d issued, %d refused, %d written", won.Load(), refused.Load(), f.rows(t, "licenses"))
		}
	})
}

func TestManyAtOnceForOneDomainGetTheSameLicense(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		var all sync.WaitGroup
		texts := make([]string, 50)
		for i := range texts {
			all.Go(func() {
				l, err := f.IssueLicense(t.Context(), buyer, issuer, "one", "shop.example")
				if err != nil {
					t.Error(err)
				}
				texts[i] = l.Text
			})
		}
		all.Wait()
		slices.Sort(texts)
		if len(slices.Compact(texts)) != 1 || f.rows(t, "licenses") != 1 {
			t.Errorf("%d licenses", f.rows(t, "licenses"))
		}
	})
}

// What was read before the write may have changed when the write's turn comes.
func TestALicenseIsNotWrittenWhenThePurchaseChangedMeanwhile(t *testing.T) {
	tests := []struct {
		rule   string
		change func(*testing.T, *fixture, License) error
		widens bool   // the license of a.example may still become a wildcard
		then   string // the code of whoever asks anew, "" for a license
	}{
		{"refunded", func(t *testing.T, f *fixture, _ License) error {
			_, err := f.RefundPurchase(t.Context(), operator, "one")
			return err
		}, false, "purchase_not_found"},
		{"a license was revoked", func(t *testing.T, f *fixture, l License) error {
			_, err := f.RevokeLicense(t.Context(), operator, l.License.ID)
			return err
		}, false, "purchase_not_found"},
		{"one that was given up was revoked", func(t *testing.T, f *fixture, l License) error {
			if _, err := f.GiveUpLicense(t.Context(), buyer, "one", "a.example", ""); err != nil {
				return err
			}
			_, err := f.RevokeLicense(t.Context(), operator, l.License.ID)
			return err
		}, false, "purchase_not_found"},
		{"another domain took the last place", func(t *testing.T, f *fixture, _ License) error {
			_, err := f.IssueLicense(t.Context(), buyer, issuer, "one", "c.example")
			return err
		}, true, "limit_reached"},
		{"the domain got its license", func(t *testing.T, f *fixture, _ License) error {
			_, err := f.IssueLicense(t.Context(), buyer, issuer, "one", "b.example")
			return err
		}, true, ""},
		{"moved", func(t *testing.T, f *fixture, _ License) error {
			_, err := f.MoveLicense(t.Context(), buyer, issuer, "one", "a.example", "c.example")
			return err
		}, false, ""},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			licensed(t, func(t *testing.T, f *fixture) {
				f.allow(t, 1, func(l *Licensing) { l.RegularDomains = 2; l.Wildcard = true })
				first := f.issue(t, "one", "a.example")
				stale, err := f.holding(t.Context(), buyer, "one")
				if err != nil {
					t.Fatal(err)
				}
				if err := tt.change(t, f, first.License); err != nil {
					t.Fatal(err)
				}
				before := f.rows(t, "licenses")
				for domain, written := range map[string]bool{"b.example": false, "*.a.example": tt.widens} {
					domains, err := stale.parse(LicenseRequest{Domain: domain})
					if err != nil {
						t.Fatal(err)
					}
					_, err = f.addLicenses(t.Context(), buyer, stale, domains)
					if (err == nil) != written || (err != nil && !errors.Is(err, errMeanwhile)) {
						t.Errorf("%s: %v", domain, err)
					}
				}
				if n := f.rows(t, "licenses"); n != before {
					t.Errorf("%d licenses, %d before", n, before)
				}
				_, err = f.IssueLicense(t.Context(), buyer, issuer, "one", "b.example")
				if got := codeOf(err); got != tt.then {
					t.Errorf("whoever asks anew reads %q, want %q", got, tt.then)
				}
			})
		})
	}
}
