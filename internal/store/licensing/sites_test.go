package licensing_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/store/storetest"
)

// inUse lists the domains that a purchase has licenses in use for, sorted.
func inUse(t testing.TB, f *storetest.Fixture, code string) []string {
	t.Helper()
	all := must.Get(f.Licensing.InUse(t.Context(), storetest.Buyer, code))(t)
	var domains []string
	for _, l := range all {
		domains = append(domains, licensing.DomainOf(l.License).String())
	}
	slices.Sort(domains)
	return domains
}

func testHosts(n int) (hosts []string) {
	for i := range n {
		hosts = append(hosts, fmt.Sprintf("%d.test", i))
	}
	return hosts
}

func TestARequestForSeveralDomainsIssuesAllOrNone(t *testing.T) {
	tests := []struct {
		rule    string
		prepare []string // domains that have a license before
		domain  string
		tests   []string
		refused string // "" when all are issued
		field   bool   // the refusal is about the test domains
	}{
		{"all new", nil, "shop.example", []string{"localhost", "shop.test"}, "", false},
		{"some there already", []string{"shop.example", "shop.test"}, "shop.example", []string{"localhost", "shop.test"}, "", false},
		{"one domain twice", nil, "shop.example", []string{"shop.test", "SHOP.test"}, "", false},
		{"a wildcard of a test domain beside it", nil, "shop.test", []string{"*.shop.test"}, "", false},
		{"no domain left", []string{"other.example"}, "shop.example", []string{"localhost"}, "limit_reached", false},
		{"a test domain that counts", nil, "shop.example", []string{"localhost", "other.example"}, "domain_invalid", true},
		{"an invalid test domain", nil, "shop.example", []string{"localhost", "a b"}, "domain_invalid", true},
		{"too many test domains at once", nil, "shop.example", testHosts(11), "domain_invalid", true},
		{"the last test domain", testHosts(49), "shop.example", []string{"49.test"}, "", false},
		{"one test domain more than there may be", testHosts(49), "shop.example", []string{"49.test", "50.test"}, "limit_reached", true},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			f := storetest.Prepared(t, storetest.LicensedStore.New(t, dbtest.Either(t)))
			f.Allow(t, 1, func(l *licensing.Rule) { l.Wildcard = true })
			for _, domain := range tt.prepare {
				f.Issue(t, "one", domain)
			}
			before, audits := inUse(t, f, "one"), len(f.Audits(t))
			request := licensing.Request{Code: "one", Domain: tt.domain, Tests: tt.tests}
			made, err := f.Licensing.IssueAll(t.Context(), storetest.Buyer, storetest.Issuer, request)
			if tt.refused == "" {
				if err != nil || len(made) != 1+len(tt.tests) {
					t.Fatalf("%d licenses, %v", len(made), err)
				}
				again, err := f.Licensing.IssueAll(t.Context(), storetest.Buyer, storetest.Issuer, request)
				if err != nil || !slices.Equal(textsOf(again), textsOf(made)) {
					t.Errorf("a second request has other licenses, %v", err)
				}
				return
			}
			storetest.WantError(t, err, tt.refused)
			if field := storetest.ErrorOf(err).Fields["tests"]; (field != "") != tt.field {
				t.Errorf("said of the test domains: %q", field)
			}
			if after := inUse(t, f, "one"); !slices.Equal(after, before) || len(f.Audits(t)) != audits {
				t.Errorf("in use %v, before %v", after, before)
			}
		})
	}
}

func textsOf(all []licensing.Signed) (texts []string) {
	for _, l := range all {
		texts = append(texts, l.Text)
	}
	return texts
}

// A move with test domains ends nothing when one of them is refused.
func TestAMoveWithTestDomainsIsDoneWholeOrNotAtAll(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		f.Issue(t, "one", "old.example")
		for _, host := range testHosts(49) {
			f.Issue(t, "one", host)
		}
		before, audits := inUse(t, f, "one"), len(f.Audits(t))
		for _, hosts := range [][]string{{"a b"}, {"49.test", "50.test"}} {
			_, err := f.Licensing.MoveAll(t.Context(), storetest.Buyer, storetest.Issuer, "old.example", licensing.Request{Code: "one", Domain: "new.example", Tests: hosts})
			if storetest.ErrorOf(err).Fields["tests"] == "" {
				t.Errorf("%v: %v", hosts, err)
			}
		}
		if after := inUse(t, f, "one"); !slices.Equal(after, before) || len(f.Audits(t)) != audits || len(f.Revoked(t)) != 0 {
			t.Errorf("in use %v, before %v", after, before)
		}
		request := licensing.Request{Code: "one", Domain: "new.example", Tests: []string{"49.test"}}
		made, err := f.Licensing.MoveAll(t.Context(), storetest.Buyer, storetest.Issuer, "old.example", request)
		if err != nil || len(made) != 2 || made[0].Domain != "new.example" || made[1].Domain != "49.test" {
			t.Fatalf("%+v, %v", made, err)
		}
		acts := f.Audits(t)[audits:]
		if want := []string{"license.move ada " + made[0].License.ID, "license.issue ada " + made[1].License.ID}; !slices.Equal(acts, want) {
			t.Errorf("audits %v, want %v", acts, want)
		}
		again, err := f.Licensing.MoveAll(t.Context(), storetest.Buyer, storetest.Issuer, "old.example", request)
		if err != nil || !slices.Equal(textsOf(again), textsOf(made)) || len(f.Audits(t)) != audits+2 {
			t.Errorf("again: %v, audits %v", err, f.Audits(t)[audits:])
		}
	})
}

// The operator's request for several domains ends a revocation for all of them.
func TestTheOperatorIssuesSeveralAfterARevocation(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		l := f.Issue(t, "one", "old.example")
		must.Get(f.Licensing.Revoke(t.Context(), storetest.Operator, l.License.ID))(t)
		must.Get(f.Licensing.IssueAll(t.Context(), storetest.Operator, storetest.Issuer, licensing.Request{Code: "one", Domain: "new.example", Tests: []string{"new.test", "localhost"}}))(t)
		expect.Equalf(t, strings.Join(inUse(t, f, "one"), " "), "localhost new.example new.test", "in use")
		if old, err := f.Licensing.Show(t.Context(), storetest.Operator, l.License.ID); err != nil || old.Ended != storedb.EndingReplaced {
			t.Errorf("the revoked one is %q, %v", old.Ended, err)
		}
	})
}
