package licensing_test

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/license"
	"github.com/google/go-cmp/cmp"
)

// domainsOf are the domains that an error says are in use.
func domainsOf(err error) []string {
	in, _ := storetest.ErrorOf(err).Data.(countersign.LicenseDomains)
	return in.Domains
}

func TestALicenseSaysWhatWasBought(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		l := f.Issue(t, " ONE ", "https://www.Shop.Example:8443/start?x")
		opened := must.Get(license.Open(l.Text, f.KeySet(t), "www.shop.example", storetest.Noon))(t)
		want := license.License{
			ID: l.License.ID, Issuer: storetest.Issuer, IssuedAt: storetest.Noon, NotBefore: storetest.Noon.Add(-24 * time.Hour),
			ItemID: 1, ItemName: "Item 1", LicenseType: "Regular", Purchase: opened.Purchase,
			Domain: "shop.example", Domains: []string{"shop.example"}, SupportedUntil: storetest.Timestamp("2027-04-27T12:00:00Z"),
		}
		expect.Equal(t, cmp.Diff(want, opened), "")
		if opened.Purchase != f.Licensing.Box().CodeName("one") || strings.Contains(l.Text, "one") && opened.Purchase == "one" {
			t.Errorf("purchase %q is not the keyed digest of the code", opened.Purchase)
		}
		if _, err := license.Open(l.Text, f.KeySet(t), "shop.example.evil.test", storetest.Noon); !errors.Is(err, license.ErrWrongDomain) {
			t.Errorf("for another domain: %v", err)
		}
	})
}

func TestSupportIsSaidWhereTheItemHasIt(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		for code, want := range map[string]string{"one": "2027-04-27T12:00:00Z", "two": "2025-04-27T12:00:00Z", "plain": "", "bobs": ""} {
			opened := must.Get(license.Open(f.Issue(t, code, "shop.example").Text, f.KeySet(t), "shop.example", storetest.Noon))(t)
			expect.Equalf(t, second(opened.SupportedUntil), want, "%s: supported until", code)
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
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		first := f.Issue(t, "one", "shop.example")
		audits := len(f.Audits(t))
		f.Clock.Set(storetest.Noon.Add(1000 * time.Hour))
		for _, domain := range []string{"shop.example", "WWW.shop.example.", "http://shop.example/x"} {
			if again := f.Issue(t, "One", domain); again.Text != first.Text {
				t.Errorf("%s: another text", domain)
			}
		}
		if f.Rows(t, "licenses") != 1 || len(f.Audits(t)) != audits {
			t.Errorf("%d licenses, audits %v", f.Rows(t, "licenses"), f.Audits(t))
		}
	})
}

func TestIssuingIsAudited(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		l := f.Issue(t, "one", "shop.example")
		if got, want := f.Audits(t), "license.issue ada "+l.License.ID; got[len(got)-1] != want {
			t.Errorf("%q, want %q", got[len(got)-1], want)
		}
		if strings.Contains(strings.Join(f.Audits(t), "\n"), "one") && !strings.Contains(l.License.ID, "one") {
			t.Errorf("the code is in the audit log")
		}
	})
}

// To whoever has no valid code, all is one answer.
func TestAStrangerLearnsNoMoreThanInvalidPurchaseCode(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		l := f.Issue(t, "two", "shop.example")
		must.Get(f.Licensing.Revoke(t.Context(), storetest.Operator, l.License.ID))(t)
		for _, code := range []string{"", "nobody", "\x00", "ü", strings.Repeat("a", 129), "refunded", "charged_back", "revoked", "two"} {
			for _, domain := range []string{"shop.example", "co.uk", ""} {
				_, issued := f.Licensing.Issue(t.Context(), storetest.Buyer, storetest.Issuer, code, domain)
				_, moved := f.Licensing.Move(t.Context(), storetest.Buyer, storetest.Issuer, code, "", domain)
				_, givenUp := f.Licensing.RevokeForBuyer(t.Context(), storetest.Buyer, code, domain, "")
				for _, err := range []error{issued, moved, givenUp} {
					if storetest.CodeOf(err) != "purchase_not_found" || storetest.MessageOf(err) != "Invalid purchase code" || domainsOf(err) != nil {
						t.Errorf("%q, %q: %v", code, domain, err)
					}
				}
			}
		}
	})
}

func TestTheOperatorIsToldWhyThereIsNoLicense(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		for _, state := range []string{"refunded", "charged_back", "revoked"} {
			_, err := f.Licensing.Issue(t.Context(), storetest.Operator, storetest.Issuer, state, "shop.example")
			storetest.WantError(t, err, "purchase_"+state)
		}
	})
}

func TestNoKeyIssuesLicenses(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		_, token := f.MustCreate(t, store.NewKey{Workspace: "ada"})
		_, err := f.Licensing.Issue(t.Context(), f.ActorOf(t, token), storetest.Issuer, "one", "shop.example")
		storetest.WantError(t, err, "key_scope")
		_, err = f.Licensing.RevokeForBuyer(t.Context(), f.ActorOf(t, token), "one", "shop.example", "")
		storetest.WantError(t, err, "key_scope")
		_, err = f.Licensing.Show(t.Context(), storetest.Buyer, "x")
		storetest.WantError(t, err, "key_scope")
		_, err = f.Licensing.Revoke(t.Context(), storetest.Buyer, "x")
		storetest.WantError(t, err, "key_scope")
		_, err = f.Licensing.RotateKey(t.Context(), storetest.Buyer, false)
		storetest.WantError(t, err, "key_scope")
		_, err = f.Licensing.SetRule(t.Context(), storetest.Buyer, 1, "", func(*licensing.Rule) {})
		storetest.WantError(t, err, "key_scope")
	})
}

func TestDomainsThatCanHaveNoLicense(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		isSuffix := map[string]bool{"co.uk": true, "com": true, "github.io": true}
		for _, domain := range []string{"", " ", "co.uk", "com", "github.io", "a b", "*.shop.example", "ftp://shop.example"} {
			_, err := f.Licensing.Issue(t.Context(), storetest.Buyer, storetest.Issuer, "one", domain)
			storetest.WantError(t, err, "domain_invalid")
			if m := storetest.MessageOf(err); m == "" || m[:1] != strings.ToUpper(m[:1]) {
				t.Errorf("message %q", m)
			}
			if m := storetest.MessageOf(err); isSuffix[domain] && !strings.Contains(m, " "+domain+";") {
				t.Errorf("message %q does not name %s as it was written", m, domain)
			}
		}
		expect.Equalf(t, f.Rows(t, "licenses"), 0, "there are licenses")
	})
}

// The item says how many domains a purchase of each license type may have.
func TestTheItemLimitsTheDomains(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		f.Issue(t, "one", "a.example")
		_, err := f.Licensing.Issue(t.Context(), storetest.Buyer, storetest.Issuer, "one", "b.example")
		storetest.WantError(t, err, "limit_reached")
		want := countersign.LicenseDomains{Domains: []string{"a.example"}, Licenses: []countersign.LicenseInUse{{Domain: "a.example", IssuedAt: countersign.At(storetest.Noon)}}}
		expect.Equal(t, cmp.Diff(want, storetest.ErrorOf(err).Data), "")
		f.Issue(t, "two", "b.example") // each purchase has its own
		f.Allow(t, 1, func(l *licensing.Rule) { l.ExtendedDomains = 3 })
		for _, domain := range []string{"a.example", "b.example", "c.example"} {
			f.Issue(t, "extended", domain)
		}
		_, err = f.Licensing.Issue(t.Context(), storetest.Buyer, storetest.Issuer, "extended", "d.example")
		storetest.WantError(t, err, "limit_reached")
		got := domainsOf(err)
		slices.Sort(got)
		expect.Equal(t, cmp.Diff([]string{"a.example", "b.example", "c.example"}, got), "")
		_, err = f.Licensing.Issue(t.Context(), storetest.Buyer, storetest.Issuer, "one", "b.example")
		storetest.WantError(t, err, "limit_reached")
		f.Allow(t, 3, func(l *licensing.Rule) { l.RegularDomains = 0 })
		_, err = f.Licensing.Issue(t.Context(), storetest.Buyer, storetest.Issuer, "bobs", "b.example")
		storetest.WantError(t, err, "limit_reached")
	})
}

func TestTestDomainsAreFree(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		f.Allow(t, 1, func(l *licensing.Rule) { l.StagingHosts = []string{"*.preview.example", "staging.*"} })
		free := []string{"localhost", "shop.test", "shop.local", "10.1.2.3", "[::1]:3000", "x.preview.example", "staging.shop.example"}
		f.Issue(t, "one", "shop.example")
		for _, domain := range free {
			if l := f.Issue(t, "one", domain); !l.Free {
				t.Errorf("%s is not free", domain)
			}
		}
		_, err := f.Licensing.Issue(t.Context(), storetest.Buyer, storetest.Issuer, "one", "second.example")
		storetest.WantError(t, err, "limit_reached")
		expect.Equal(t, cmp.Diff([]string{"shop.example"}, domainsOf(err)), "")
		for i := len(free); i < 50; i++ {
			f.Issue(t, "one", fmt.Sprintf("%d.test", i))
		}
		_, err = f.Licensing.Issue(t.Context(), storetest.Buyer, storetest.Issuer, "one", "50.test")
		storetest.WantError(t, err, "limit_reached")
	})
}

func TestAWildcardNeedsTheItemsRule(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		plain := f.Issue(t, "one", "shop.example")
		f.Allow(t, 1, func(l *licensing.Rule) { l.Wildcard = true })
		wide := f.Issue(t, "one", "*.shop.example")
		expect.Equalf(t, wide.License.ID, plain.License.ID, "the wildcard made another license of the same domain")
		for _, host := range []string{"shop.example", "www.shop.example", "blog.shop.example"} {
			if _, err := license.Open(wide.Text, f.KeySet(t), host, storetest.Noon); err != nil {
				t.Errorf("%s: %v", host, err)
			}
		}
		if again := f.Issue(t, "one", "blog.shop.example"); again.Text != wide.Text {
			t.Error("a host below the wildcard has a license of its own")
		}
		_, err := f.Licensing.Issue(t.Context(), storetest.Buyer, storetest.Issuer, "one", "a.blog.shop.example")
		storetest.WantError(t, err, "limit_reached")
		f.Allow(t, 1, func(l *licensing.Rule) { l.Wildcard = false })
		narrow := f.Issue(t, "one", "shop.example")
		if _, err := license.Open(narrow.Text, f.KeySet(t), "blog.shop.example", storetest.Noon); !errors.Is(err, license.ErrWrongDomain) {
			t.Errorf("a wildcard outlives the item's rule: %v", err)
		}
	})
}

func TestAStoreThatIsNotReadyAnswersNothingAboutLicenses(t *testing.T) {
	t.Parallel()
	s := storetest.Opened(t, storetest.OptionsOf(dbtest.New(t, dbtest.SQLite), storetest.NewClock()))
	_, err := s.Licensing.Issue(t.Context(), storetest.Buyer, storetest.Issuer, "one", "shop.example")
	storetest.WantError(t, err, "unavailable")
	_, err = s.Licensing.Move(t.Context(), storetest.Buyer, storetest.Issuer, "one", "", "shop.example")
	storetest.WantError(t, err, "unavailable")
	_, err = s.Licensing.Check(t.Context(), storetest.Buyer, licensing.CheckRequest{Code: "one", Domain: "shop.example"})
	storetest.WantError(t, err, "unavailable")
	_, err = s.Licensing.KeySet(t.Context())
	storetest.WantError(t, err, "unavailable")
	_, err = s.Licensing.RevokedList(t.Context(), storetest.Issuer)
	storetest.WantError(t, err, "unavailable")
}

// A purchase that has another workspace's item all the same, for example from before, shows nothing of it.
func TestAPurchaseOfAnotherWorkspacesItemGetsNoLicense(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, storetest.Lines(storetest.PurchaseText("ada", 1, "stray")))
		stray := func() health.Finding {
			all := f.Doctor(t.Context())
			quick, err := f.Health(t.Context(), storetest.Operator)
			at := slices.IndexFunc(all, func(one health.Finding) bool { return one.Name == "items of purchases" })
			if err != nil || quick[at] != all[at] {
				t.Errorf("the page says %+v, and doctor %+v, %v", quick[at], all[at], err)
			}
			return all[at]
		}
		if got := stray(); got.Level != health.OK {
			t.Errorf("%+v", got)
		}
		f.Execute(t, `UPDATE purchases SET item_id = 3`)
		if got := stray(); got.Level != health.Fail || !strings.Contains(got.What, ": 1.") {
			t.Errorf("%+v", got)
		}
		if _, err := f.Licensing.Issue(t.Context(), people.Buyer(people.FrontEndAPI, netip.Addr{}), "https://shop.example", "stray", "a.example"); err == nil {
			t.Error("a license was issued")
		}
		if c, err := f.Validation.Check(t.Context(), storetest.Operator, "stray"); err != nil || c.Item.ID != 3 || c.Item.Name != "" {
			t.Errorf("%+v, %v", c.Item, err)
		}
	})
}

// A thousand at once, each for a domain of its own: one of them gets the license. They
// have the machine to themselves, because each waits at most five seconds.
func TestOfAThousandAtOnceOneGetsTheLastDomain(t *testing.T) {
	storetest.LicensedStore.Engines(t, func(t *testing.T, at dbtest.DB) {
		f := storetest.Prepared(t, at)
		const many = 1000
		var begin, all sync.WaitGroup
		var won, refused atomic.Int64
		begin.Add(1)
		for i := range many {
			all.Go(func() {
				begin.Wait()
				_, err := f.Licensing.Issue(t.Context(), storetest.Buyer, storetest.Issuer, "one", fmt.Sprintf("shop%d.example", i))
				for storetest.CodeOf(err) == countersign.CodeBusy { // a slow machine can't serve them all in time: come back
					_, err = f.Licensing.Issue(t.Context(), storetest.Buyer, storetest.Issuer, "one", fmt.Sprintf("shop%d.example", i))
				}
				switch {
				case err == nil:
					won.Add(1)
				case storetest.CodeOf(err) == "limit_reached":
					refused.Add(1)
				default:
					t.Errorf("request %d: %v", i, err)
				}
			})
		}
		begin.Done()
		all.Wait()
		if won.Load() != 1 || refused.Load() != many-1 || f.Rows(t, "licenses") != 1 {
			t.Errorf("%d issued, %d refused, %d written", won.Load(), refused.Load(), f.Rows(t, "licenses"))
		}
	})
}

func TestManyAtOnceForOneDomainGetTheSameLicense(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		var all sync.WaitGroup
		texts := make([]string, 50)
		for i := range texts {
			all.Go(func() {
				l, err := f.Licensing.Issue(t.Context(), storetest.Buyer, storetest.Issuer, "one", "shop.example")
				if err != nil {
					t.Error(err)
				}
				texts[i] = l.Text
			})
		}
		all.Wait()
		slices.Sort(texts)
		if len(slices.Compact(texts)) != 1 || f.Rows(t, "licenses") != 1 {
			t.Errorf("%d licenses", f.Rows(t, "licenses"))
		}
	})
}
