package licensing_test

import (
	"errors"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/internal/store/storetest"
)

// What was read before the write may have changed when the write's turn comes.
func TestALicenseIsNotWrittenWhenThePurchaseChangedMeanwhile(t *testing.T) {
	tests := []struct {
		rule   string
		change func(*testing.T, *storetest.Fixture, licensing.License) error
		widens bool   // the license of a.example may still become a wildcard
		then   string // the code of whoever asks anew, "" for a license
	}{
		{"refunded", func(t *testing.T, f *storetest.Fixture, _ licensing.License) error {
			_, err := f.EndPurchase(t.Context(), storetest.Operator, "one", store.StateRefunded)
			return err
		}, false, "purchase_not_found"},
		{"a license was revoked", func(t *testing.T, f *storetest.Fixture, l licensing.License) error {
			_, err := f.Licensing.Revoke(t.Context(), storetest.Operator, l.License.ID)
			return err
		}, false, "purchase_not_found"},
		{"one that was given up was revoked", func(t *testing.T, f *storetest.Fixture, l licensing.License) error {
			if _, err := f.Licensing.RevokeForBuyer(t.Context(), storetest.Buyer, "one", "a.example", ""); err != nil {
				return err
			}
			_, err := f.Licensing.Revoke(t.Context(), storetest.Operator, l.License.ID)
			return err
		}, false, "purchase_not_found"},
		{"another domain took the last place", func(t *testing.T, f *storetest.Fixture, _ licensing.License) error {
			_, err := f.Licensing.Issue(t.Context(), storetest.Buyer, storetest.Issuer, "one", "c.example")
			return err
		}, true, "limit_reached"},
		{"the domain got its license", func(t *testing.T, f *storetest.Fixture, _ licensing.License) error {
			_, err := f.Licensing.Issue(t.Context(), storetest.Buyer, storetest.Issuer, "one", "b.example")
			return err
		}, true, ""},
		{"moved", func(t *testing.T, f *storetest.Fixture, _ licensing.License) error {
			_, err := f.Licensing.Move(t.Context(), storetest.Buyer, storetest.Issuer, "one", "a.example", "c.example")
			return err
		}, false, ""},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
				f.Allow(t, 1, func(l *licensing.Rule) { l.RegularDomains = 2; l.Wildcard = true })
				first := f.Issue(t, "one", "a.example")
				issueStale := must.Get(f.Licensing.Stale(t.Context(), storetest.Buyer, "one"))(t)
				must.Do(t, tt.change(t, f, first.License))
				before := f.Rows(t, "licenses")
				for domain, written := range map[string]bool{"b.example": false, "*.a.example": tt.widens} {
					err := issueStale(t.Context(), domain)
					if (err == nil) != written || (err != nil && !errors.Is(err, licensing.ErrMeanwhile)) {
						t.Errorf("%s: %v", domain, err)
					}
				}
				if n := f.Rows(t, "licenses"); n != before {
					t.Errorf("%d licenses, %d before", n, before)
				}
				_, err := f.Licensing.Issue(t.Context(), storetest.Buyer, storetest.Issuer, "one", "b.example")
				expect.Equalf(t, storetest.CodeOf(err), tt.then, "whoever asks anew reads")
			})
		})
	}
}

// An import writes licenses without the purchase's lock, which only PostgreSQL lets it
// do beside a move.
func TestAMoveBeginsAnewWhenAnImportAddsALicense(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		f.Allow(t, 1, func(l *licensing.Rule) { l.RegularDomains = 5 })
		old := f.Issue(t, "one", "a.example").License
		tries := 0
		found, err := f.Licensing.MoveTo(t.Context(), storetest.Buyer, old.PurchaseID, "b.example", func() licensing.License {
			tries++
			if tries == 1 && f.At.Engine == dbtest.Postgres {
				f.MustImport(t, `{"type":"license","id":"imported","purchase_code":"one","domain":"c.example","issued_at":"2024-01-01T00:00:00Z"}`)
			}
			return old
		})
		if err != nil || !found {
			t.Fatalf("found %t, error %v", found, err)
		}
		if want := map[string]int{dbtest.SQLite: 1, dbtest.Postgres: 2}[f.At.Engine]; tries != want {
			t.Errorf("%d tries, want %d", tries, want)
		}
	})
}
