package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/license"
	"github.com/google/go-cmp/cmp"
)

var buyer = people.Buyer(people.FaceAPI, netip.MustParseAddr("192.0.2.9"))

const issuer = "https://store.example"

// keySet is the key set as clients read it.
func (f *fixture) keySet(t testing.TB) *license.KeySet {
	t.Helper()
	d, err := f.Licensing.KeySet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	keys, err := license.ReadKeySet(bodyOf(t, d))
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// revoked lists the ids of the revoked licenses, as a client reads them.
func (f *fixture) revoked(t testing.TB) []string {
	t.Helper()
	d, err := f.Licensing.RevokedList(t.Context(), issuer)
	if err != nil {
		t.Fatal(err)
	}
	var answer struct{ Data countersign.RevokedLicenses }
	if err := json.Unmarshal(bodyOf(t, d), &answer); err != nil {
		t.Fatal(err)
	}
	list, err := license.OpenRevoked(answer.Data.List, f.keySet(t), f.clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	if list.Issuer != issuer {
		t.Errorf("the list is of %q", list.Issuer)
	}
	return list.IDs
}

func (f *fixture) issue(t testing.TB, code, domain string) licensing.Signed {
	t.Helper()
	l, err := f.Licensing.Issue(t.Context(), buyer, issuer, code, domain)
	if err != nil {
		t.Fatalf("license of %s for %s: %v", code, domain, err)
	}
	return l
}

// domainsOf are the domains that an error says are in use.
func domainsOf(err error) []string {
	in, _ := dataOf(err).(countersign.LicenseDomains)
	return in.Domains
}

func dataOf(err error) any {
	var ours *countersign.Error
	if errors.As(err, &ours) {
		return ours.Data
	}
	return nil
}

// licensed runs fn on both engines with a copy of licensedStore, beside other tests.
func licensed(t *testing.T, fn func(t *testing.T, f *fixture)) {
	t.Helper()
	t.Parallel()
	licensedStore.Engines(t, func(t *testing.T, at dbtest.DB) { fn(t, prepared(t, at)) })
}

// licensedStore has purchases of the items of twoShops: "one" and "two" of item 1,
// "extended" of item 1, "refunded", "charged_back" and "revoked" of item 1, "plain" of item
// 2 without support, "bobs" of item 3.
var licensedStore = dbtest.NewTemplate(func(at dbtest.DB) error {
	return newShop(at, twoShops+lines(
		purchaseText("ada", 1, "one", `"supported_until":"2027-04-27T12:00:00Z"`), purchaseText("ada", 1, "two", `"supported_until":"2025-04-27T12:00:00Z"`),
		purchaseText("ada", 1, "extended", `"license_type":"Extended"`), purchaseText("ada", 1, "refunded", `"state":"refunded"`),
		purchaseText("ada", 1, "charged_back", `"state":"charged_back"`), purchaseText("ada", 1, "revoked", `"state":"revoked"`),
		purchaseText("ada", 2, "plain", `"supported_until":"2025-04-27T12:00:00Z"`), purchaseText("bob", 3, "bobs"),
	))
})

func (f *fixture) allow(t testing.TB, item int64, change func(*licensing.Rule)) {
	t.Helper()
	if _, err := f.Licensing.SetRule(t.Context(), operator, item, change); err != nil {
		t.Fatal(err)
	}
}

func TestALicenseSaysWhatWasBought(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		l := f.issue(t, " ONE ", "https://www.Shop.Example:8443/start?x")
		opened, err := license.Open(l.Text, f.keySet(t), "www.shop.example", noon)
		if err != nil {
			t.Fatal(err)
		}
		want := license.License{
			ID: l.License.ID, Issuer: issuer, IssuedAt: noon, NotBefore: noon.Add(-24 * time.Hour),
			ItemID: 1, ItemName: "Item 1", LicenseType: "Regular", Purchase: opened.Purchase,
			Domain: "shop.example", Domains: []string{"shop.example"}, SupportedUntil: at("2027-04-27T12:00:00Z"),
		}
		if diff := cmp.Diff(want, opened); diff != "" {
			t.Error(diff)
		}
		if opened.Purchase != f.gate.Box().CodeName("one") || strings.Contains(l.Text, "one") && opened.Purchase == "one" {
			t.Errorf("purchase %q is not the keyed digest of the code", opened.Purchase)
		}
		if _, err := license.Open(l.Text, f.keySet(t), "shop.example.evil.test", noon); !errors.Is(err, license.ErrWrongDomain) {
			t.Errorf("for another domain: %v", err)
		}
	})
}

func TestSupportIsSaidWhereTheItemHasIt(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		for code, want := range map[string]string{"one": "2027-04-27T12:00:00Z", "two": "2025-04-27T12:00:00Z", "plain": "", "bobs": ""} {
			opened, err := license.Open(f.issue(t, code, "shop.example").Text, f.keySet(t), "shop.example", noon)
			if err != nil {
				t.Fatal(err)
			}
			if got := second(opened.SupportedUntil); got != want {
				t.Errorf("%s: supported until %q, want %q", code, got, want)
			}
		}
	})
}

func second(t countersign.Timestamp) string {
	if t.IsZero() {
		return ""
	}
	return t.String()
}

func TestIssuingAgainForADomainIsFreeAndWritesNothing(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		first := f.issue(t, "one", "shop.example")
		audits := len(f.audits(t))
		f.clock.set(noon.Add(1000 * time.Hour))
		for _, domain := range []string{"shop.example", "WWW.shop.example.", "http://shop.example/x"} {
			if again := f.issue(t, "One", domain); again.Text != first.Text {
				t.Errorf("%s: another text", domain)
			}
		}
		if f.rows(t, "licenses") != 1 || len(f.audits(t)) != audits {
			t.Errorf("%d licenses, audits %v", f.rows(t, "licenses"), f.audits(t))
		}
	})
}

func TestIssuingIsAudited(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		l := f.issue(t, "one", "shop.example")
		if got, want := f.audits(t), "license.issue ada "+l.License.ID; got[len(got)-1] != want {
			t.Errorf("%q, want %q", got[len(got)-1], want)
		}
		if strings.Contains(strings.Join(f.audits(t), "\n"), "one") && !strings.Contains(l.License.ID, "one") {
			t.Errorf("the code is in the audit log")
		}
	})
}

// To whoever has no valid code, all is one answer.
func TestAStrangerLearnsNoMoreThanInvalidPurchaseCode(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		l := f.issue(t, "two", "shop.example")
		if _, err := f.Licensing.Revoke(t.Context(), operator, l.License.ID); err != nil {
			t.Fatal(err)
		}
		for _, code := range []string{"", "nobody", "\x00", "ü", strings.Repeat("a", 129), "refunded", "charged_back", "revoked", "two"} {
			for _, domain := range []string{"shop.example", "co.uk", ""} {
				_, issued := f.Licensing.Issue(t.Context(), buyer, issuer, code, domain)
				_, moved := f.Licensing.Move(t.Context(), buyer, issuer, code, "", domain)
				_, givenUp := f.Licensing.RevokeForBuyer(t.Context(), buyer, code, domain, "")
				for _, err := range []error{issued, moved, givenUp} {
					if codeOf(err) != "purchase_not_found" || messageOf(err) != "Invalid purchase code" || domainsOf(err) != nil {
						t.Errorf("%q, %q: %v", code, domain, err)
					}
				}
			}
		}
	})
}

func TestTheOperatorIsToldWhyThereIsNoLicense(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		for _, state := range []string{"refunded", "charged_back", "revoked"} {
			_, err := f.Licensing.Issue(t.Context(), operator, issuer, state, "shop.example")
			wantError(t, err, "purchase_"+state)
		}
	})
}

func TestNoKeyIssuesLicenses(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		_, token := f.mustCreate(t, NewKey{Workspace: "ada"})
		_, err := f.Licensing.Issue(t.Context(), f.actorOf(t, token), issuer, "one", "shop.example")
		wantError(t, err, "key_scope")
		_, err = f.Licensing.RevokeForBuyer(t.Context(), f.actorOf(t, token), "one", "shop.example", "")
		wantError(t, err, "key_scope")
		_, err = f.Licensing.Show(t.Context(), buyer, "x")
		wantError(t, err, "key_scope")
		_, err = f.Licensing.Revoke(t.Context(), buyer, "x")
		wantError(t, err, "key_scope")
		_, err = f.Licensing.RotateKey(t.Context(), buyer, false)
		wantError(t, err, "key_scope")
		_, err = f.Licensing.SetRule(t.Context(), buyer, 1, func(*licensing.Rule) {})
		wantError(t, err, "key_scope")
	})
}

func TestDomainsThatCanHaveNoLicense(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		isSuffix := map[string]bool{"co.uk": true, "com": true, "github.io": true}
		for _, domain := range []string{"", " ", "co.uk", "com", "github.io", "a b", "*.shop.example", "ftp://shop.example"} {
			_, err := f.Licensing.Issue(t.Context(), buyer, issuer, "one", domain)
			wantError(t, err, "domain_invalid")
			if m := messageOf(err); m == "" || m[:1] != strings.ToUpper(m[:1]) {
				t.Errorf("message %q", m)
			}
			if m := messageOf(err); isSuffix[domain] && !strings.Contains(m, " "+domain+";") {
				t.Errorf("message %q does not name %s as it was written", m, domain)
			}
		}
		if f.rows(t, "licenses") != 0 {
			t.Error("there are licenses")
		}
	})
}

// The item says how many domains a purchase of each license type may have.
func TestTheItemLimitsTheDomains(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		f.issue(t, "one", "a.example")
		_, err := f.Licensing.Issue(t.Context(), buyer, issuer, "one", "b.example")
		wantError(t, err, "limit_reached")
		want := countersign.LicenseDomains{Domains: []string{"a.example"}, Licenses: []countersign.LicenseInUse{{Domain: "a.example", IssuedAt: countersign.At(noon)}}}
		if diff := cmp.Diff(want, dataOf(err)); diff != "" {
			t.Error(diff)
		}
		f.issue(t, "two", "b.example") // each purchase has its own
		f.allow(t, 1, func(l *licensing.Rule) { l.ExtendedDomains = 3 })
		for _, domain := range []string{"a.example", "b.example", "c.example"} {
			f.issue(t, "extended", domain)
		}
		_, err = f.Licensing.Issue(t.Context(), buyer, issuer, "extended", "d.example")
		wantError(t, err, "limit_reached")
		got := domainsOf(err)
		slices.Sort(got)
		if diff := cmp.Diff([]string{"a.example", "b.example", "c.example"}, got); diff != "" {
			t.Error(diff)
		}
		_, err = f.Licensing.Issue(t.Context(), buyer, issuer, "one", "b.example")
		wantError(t, err, "limit_reached")
		f.allow(t, 3, func(l *licensing.Rule) { l.RegularDomains = 0 })
		_, err = f.Licensing.Issue(t.Context(), buyer, issuer, "bobs", "b.example")
		wantError(t, err, "limit_reached")
	})
}

func TestTestDomainsAreFree(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		f.allow(t, 1, func(l *licensing.Rule) { l.StagingHosts = []string{"*.preview.example", "staging.*"} })
		free := []string{"localhost", "shop.test", "shop.local", "10.1.2.3", "[::1]:3000", "x.preview.example", "staging.shop.example"}
		f.issue(t, "one", "shop.example")
		for _, domain := range free {
			if l := f.issue(t, "one", domain); !l.Free {
				t.Errorf("%s is not free", domain)
			}
		}
		_, err := f.Licensing.Issue(t.Context(), buyer, issuer, "one", "second.example")
		wantError(t, err, "limit_reached")
		if diff := cmp.Diff([]string{"shop.example"}, domainsOf(err)); diff != "" {
			t.Error(diff)
		}
		for i := len(free); i < 50; i++ {
			f.issue(t, "one", fmt.Sprintf("%d.test", i))
		}
		_, err = f.Licensing.Issue(t.Context(), buyer, issuer, "one", "50.test")
		wantError(t, err, "limit_reached")
	})
}

func TestAWildcardNeedsTheItemsRule(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		plain := f.issue(t, "one", "shop.example")
		f.allow(t, 1, func(l *licensing.Rule) { l.Wildcard = true })
		wide := f.issue(t, "one", "*.shop.example")
		if wide.License.ID != plain.License.ID {
			t.Error("the wildcard made another license of the same domain")
		}
		for _, host := range []string{"shop.example", "www.shop.example", "blog.shop.example"} {
			if _, err := license.Open(wide.Text, f.keySet(t), host, noon); err != nil {
				t.Errorf("%s: %v", host, err)
			}
		}
		if again := f.issue(t, "one", "blog.shop.example"); again.Text != wide.Text {
			t.Error("a host below the wildcard has a license of its own")
		}
		_, err := f.Licensing.Issue(t.Context(), buyer, issuer, "one", "a.blog.shop.example")
		wantError(t, err, "limit_reached")
		f.allow(t, 1, func(l *licensing.Rule) { l.Wildcard = false })
		narrow := f.issue(t, "one", "shop.example")
		if _, err := license.Open(narrow.Text, f.keySet(t), "blog.shop.example", noon); !errors.Is(err, license.ErrWrongDomain) {
			t.Errorf("a wildcard outlives the item's rule: %v", err)
		}
	})
}

func TestAStoreThatIsNotReadyAnswersNothingAboutLicenses(t *testing.T) {
	t.Parallel()
	s := opened(t, optionsOf(dbtest.New(t, dbtest.SQLite), newClock()))
	_, err := s.Licensing.Issue(t.Context(), buyer, issuer, "one", "shop.example")
	wantError(t, err, "unavailable")
	_, err = s.Licensing.Move(t.Context(), buyer, issuer, "one", "", "shop.example")
	wantError(t, err, "unavailable")
	_, err = s.Licensing.Check(t.Context(), buyer, licensing.CheckRequest{Code: "one", Domain: "shop.example"})
	wantError(t, err, "unavailable")
	_, err = s.Licensing.KeySet(t.Context())
	wantError(t, err, "unavailable")
	_, err = s.Licensing.RevokedList(t.Context(), issuer)
	wantError(t, err, "unavailable")
}
