package licensing_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/internal/store/transfer"
)

var (
	operator = people.Operator("tester")
	buyer    = people.Buyer(people.FaceAPI, netip.MustParseAddr("192.0.2.9"))
)

const issuer = "https://store.example"

// fixture is a store on one of the engines.
type fixture struct {
	*store.Store
	engine sqldb.Engine
}

// licensed runs fn with a store on each engine that has sold the item 1 under the
// code "one".
func licensed(t *testing.T, fn func(t *testing.T, f *fixture)) {
	t.Helper()
	t.Parallel()
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		s, err := store.Open(t.Context(), store.Options{Dir: at.Dir, URL: at.URL})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		if err := s.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		f := &fixture{s, sqldb.SQLite}
		if at.URL != "" {
			f.engine = sqldb.Postgres
		}
		f.mustImport(t, `{"type":"workspace","username":"ada","name":{"firstname":"Ada","lastname":"Byron"},"email":"ada@shop.example","balance":0,"currency":"USD","registered_at":"2024-04-27T12:00:00Z"}
{"type":"item","workspace":"ada","id":1,"kind":"other","name":"Item 1","version":"1.2.3","price":{"regular":49.00,"extended":199.00},"currency":"USD","published_at":"2024-04-27T12:00:00Z"}
{"type":"purchase","workspace":"ada","item_id":1,"purchase_code":"one","license_type":"Regular","price":49.00,"currency":"USD","date":"2024-04-27T12:00:00Z"}`)
		fn(t, f)
	})
}

func (f *fixture) mustImport(t *testing.T, lines string) {
	t.Helper()
	report, err := f.Transfer.Import(t.Context(), operator, strings.NewReader(lines), transfer.ImportOptions{})
	if err != nil || report.Bad != 0 {
		t.Fatalf("%+v, %v", report, err)
	}
}

func (f *fixture) allow(t *testing.T, item int64, change func(*licensing.Rule)) {
	t.Helper()
	if _, err := f.Licensing.SetRule(t.Context(), operator, item, change); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) issue(t *testing.T, code, domain string) licensing.Signed {
	t.Helper()
	l, err := f.Licensing.Issue(t.Context(), buyer, issuer, code, domain)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// licenses is how many licenses there are.
func (f *fixture) licenses(t *testing.T) (n int) {
	t.Helper()
	err := f.Licensing.List(t.Context(), operator, licensing.Filter{}, func(licensing.License) error { n++; return nil })
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func codeOf(err error) string {
	if ours := fault.Of(err); ours != nil {
		return ours.Code
	}
	return ""
}

// What was read before the write may have changed when the write's turn comes.
func TestALicenseIsNotWrittenWhenThePurchaseChangedMeanwhile(t *testing.T) {
	tests := []struct {
		rule   string
		change func(*testing.T, *fixture, licensing.License) error
		widens bool   // the license of a.example may still become a wildcard
		then   string // the code of whoever asks anew, "" for a license
	}{
		{"refunded", func(t *testing.T, f *fixture, _ licensing.License) error {
			_, err := f.EndPurchase(t.Context(), operator, "one", store.StateRefunded)
			return err
		}, false, "purchase_not_found"},
		{"a license was revoked", func(t *testing.T, f *fixture, l licensing.License) error {
			_, err := f.Licensing.Revoke(t.Context(), operator, l.License.ID)
			return err
		}, false, "purchase_not_found"},
		{"one that was given up was revoked", func(t *testing.T, f *fixture, l licensing.License) error {
			if _, err := f.Licensing.RevokeForBuyer(t.Context(), buyer, "one", "a.example", ""); err != nil {
				return err
			}
			_, err := f.Licensing.Revoke(t.Context(), operator, l.License.ID)
			return err
		}, false, "purchase_not_found"},
		{"another domain took the last place", func(t *testing.T, f *fixture, _ licensing.License) error {
			_, err := f.Licensing.Issue(t.Context(), buyer, issuer, "one", "c.example")
			return err
		}, true, "limit_reached"},
		{"the domain got its license", func(t *testing.T, f *fixture, _ licensing.License) error {
			_, err := f.Licensing.Issue(t.Context(), buyer, issuer, "one", "b.example")
			return err
		}, true, ""},
		{"moved", func(t *testing.T, f *fixture, _ licensing.License) error {
			_, err := f.Licensing.Move(t.Context(), buyer, issuer, "one", "a.example", "c.example")
			return err
		}, false, ""},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			licensed(t, func(t *testing.T, f *fixture) {
				f.allow(t, 1, func(l *licensing.Rule) { l.RegularDomains = 2; l.Wildcard = true })
				first := f.issue(t, "one", "a.example")
				issueStale, err := f.Licensing.Stale(t.Context(), buyer, "one")
				if err != nil {
					t.Fatal(err)
				}
				if err := tt.change(t, f, first.License); err != nil {
					t.Fatal(err)
				}
				before := f.licenses(t)
				for domain, written := range map[string]bool{"b.example": false, "*.a.example": tt.widens} {
					err := issueStale(t.Context(), domain)
					if (err == nil) != written || (err != nil && !errors.Is(err, licensing.ErrMeanwhile)) {
						t.Errorf("%s: %v", domain, err)
					}
				}
				if n := f.licenses(t); n != before {
					t.Errorf("%d licenses, %d before", n, before)
				}
				_, err = f.Licensing.Issue(t.Context(), buyer, issuer, "one", "b.example")
				if got := codeOf(err); got != tt.then {
					t.Errorf("whoever asks anew reads %q, want %q", got, tt.then)
				}
			})
		})
	}
}

// An import writes licenses without the purchase's lock, which only PostgreSQL lets it
// do beside a move.
func TestAMoveBeginsAnewWhenAnImportAddsALicense(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		f.allow(t, 1, func(l *licensing.Rule) { l.RegularDomains = 5 })
		old := f.issue(t, "one", "a.example").License
		tries := 0
		found, err := f.Licensing.MoveTo(t.Context(), buyer, old.PurchaseID, "b.example", func() licensing.License {
			tries++
			if tries == 1 && f.engine == sqldb.Postgres {
				f.mustImport(t, `{"type":"license","id":"imported","purchase_code":"one","domain":"c.example","issued_at":"2024-01-01T00:00:00Z"}`)
			}
			return old
		})
		if err != nil || !found {
			t.Fatalf("found %t, error %v", found, err)
		}
		if want := map[sqldb.Engine]int{sqldb.SQLite: 1, sqldb.Postgres: 2}[f.engine]; tries != want {
			t.Errorf("%d tries, want %d", tries, want)
		}
	})
}
