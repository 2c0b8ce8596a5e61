package licensing_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/google/go-cmp/cmp"
)

func revokeForBuyer(t testing.TB, f *storetest.Fixture, code, domain string) (licensing.License, error) {
	t.Helper()
	_, asked := f.Licensing.RevokeCost(t.Context(), storetest.Buyer, code, domain)
	l, err := f.Licensing.RevokeForBuyer(t.Context(), storetest.Buyer, code, domain, "")
	expect.Equalf(t, storetest.CodeOf(asked), storetest.CodeOf(err), "%s: asking is %v, revoking %v", domain, asked, err)
	return l, err
}

func mustGiveUp(t testing.TB, f *storetest.Fixture, code, domain string) licensing.License {
	t.Helper()
	l, err := revokeForBuyer(t, f, code, domain)
	if err != nil {
		t.Fatalf("%s gives %s up: %v", code, domain, err)
	}
	return l
}

func TestALicenseThatIsGivenUpIsRevokedAndItsDomainIsFree(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		old := f.Issue(t, "one", "old.example")
		cost := func() licensing.MoveCost {
			cost, err := f.Licensing.RevokeCost(t.Context(), storetest.Buyer, "one", "old.example")
			storetest.WantError(t, err, "")
			return cost
		}
		if got := cost(); got != (licensing.MoveCost{Left: 2, MovesAYear: 3, Wait: 24 * time.Hour}) {
			t.Errorf("it costs %+v", got)
		}
		gone := mustGiveUp(t, f, " ONE", "https://www.Old.example/")
		if gone.License.ID != old.License.ID || gone.Ended != storedb.EndingGivenUp || gone.EndedAt != countersign.At(storetest.Noon) {
			t.Errorf("%+v", gone)
		}
		if got := cost(); !got.Free {
			t.Errorf("a second time, it costs %+v", got)
		}
		expect.Equal(t, cmp.Diff([]string{old.License.ID}, f.Revoked(t)), "")
		if got, want := f.Audits(t), "license.revoke ada "+old.License.ID; got[len(got)-1] != want {
			t.Errorf("%q, want %q", got[len(got)-1], want)
		}
		again := f.Issue(t, "one", "new.example") // the buyer's issuing goes on
		if again.License.ID == old.License.ID || len(f.Revoked(t)) != 1 {
			t.Errorf("%+v", again.License)
		}
	})
}

func TestGivingUpCanBeRepeated(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		f.Issue(t, "one", "old.example")
		first, audits := mustGiveUp(t, f, "one", "old.example"), len(f.Audits(t))
		f.Clock.Set(storetest.Noon.Add(time.Hour))
		if again := mustGiveUp(t, f, "one", "old.example"); again.License != first.License {
			t.Errorf("%+v, want %+v", again.License, first.License)
		}
		f.Issue(t, "one", "new.example")
		if again := mustGiveUp(t, f, "one", "old.example"); again.License != first.License {
			t.Errorf("after another license: %+v", again.License)
		}
		if got := f.Audits(t); len(got) != audits+1 {
			t.Errorf("audits %v", got)
		}
	})
}

func TestOnlyTheLicenseThatIsMeantIsGivenUp(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		old := mustGiveUp(t, f, "one", f.Issue(t, "one", "shop.example").Domain)
		f.Clock.Set(storetest.Noon.Add(48 * time.Hour))
		used := f.Issue(t, "one", "shop.example")
		revokeForBuyer := func(domain, id string) (licensing.License, error) {
			return f.Licensing.RevokeForBuyer(t.Context(), storetest.Buyer, "one", domain, id)
		}
		for _, id := range []string{"no-such-license", f.Issue(t, "two", "shop.example").License.ID} {
			_, err := revokeForBuyer("shop.example", id)
			storetest.WantError(t, err, countersign.CodeDomainNotActivated)
		}
		_, err := revokeForBuyer("other.example", used.License.ID)
		storetest.WantError(t, err, countersign.CodeDomainNotActivated)
		if again, err := revokeForBuyer("shop.example", old.License.ID); err != nil || again.License != old.License || len(f.Revoked(t)) != 1 {
			t.Errorf("that of before: %+v, %v", again.License, err)
		}
		if gone, err := revokeForBuyer("shop.example", used.License.ID); err != nil || gone.License.ID != used.License.ID || len(f.Revoked(t)) != 2 {
			t.Errorf("%+v, %v", gone.License, err)
		}
	})
}

func TestADomainThatIsNotInUseCannotBeGivenUp(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		f.Allow(t, 1, func(l *licensing.Rule) {
			l.MovesAYear, l.MoveWaitHours, l.Wildcard, l.StagingHosts = 5, 0, true, []string{"staging.*"}
		})
		_, err := revokeForBuyer(t, f, "one", "shop.example")
		storetest.WantError(t, err, "domain_not_activated")
		f.Issue(t, "one", "*.old.example")
		f.Issue(t, "one", "localhost")
		for domain, used := range map[string]string{"x.example": "*.old.example", "blog.old.example": "*.old.example", "x.test": "localhost", "staging.x.example": "localhost"} {
			_, err := revokeForBuyer(t, f, "one", domain)
			storetest.WantError(t, err, "domain_not_activated")
			if got := domainsOf(err); !slices.Equal(got, []string{used}) {
				t.Errorf("%s: in use are %v", domain, got)
			}
		}
		for _, domain := range []string{"", "com", "a b"} {
			_, err := revokeForBuyer(t, f, "one", domain)
			storetest.WantError(t, err, "domain_invalid")
		}
		must.Get(move(t, f, "one", "", "new.example"))(t)
		_, err = revokeForBuyer(t, f, "one", "old.example") // it was moved away
		storetest.WantError(t, err, "domain_not_activated")
		mustGiveUp(t, f, "one", "*.new.example") // with or without the *
		expect.Equalf(t, f.Rows(t, "licenses"), 3, "licenses")
	})
}

// Or else giving up and issuing would go round the limit of moves.
func TestGivingUpCountsAsAMove(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		now := storetest.Noon
		later := func() { now = now.Add(day); f.Clock.Set(now) }
		f.Issue(t, "one", "d0.example")
		mustGiveUp(t, f, "one", "d0.example")
		f.Issue(t, "one", "d1.example")
		_, err := revokeForBuyer(t, f, "one", "d1.example")
		storetest.WantError(t, err, "move_too_soon")
		_, err = move(t, f, "one", "", "d2.example")
		storetest.WantError(t, err, "move_too_soon")
		if storetest.ErrorOf(err).RetryAfter != day || !strings.Contains(storetest.MessageOf(err), "moved or revoked") {
			t.Errorf("wait %s, %s", storetest.ErrorOf(err).RetryAfter, storetest.MessageOf(err))
		}
		later()
		must.Get(move(t, f, "one", "", "d2.example"))(t)
		later()
		mustGiveUp(t, f, "one", "d2.example")
		f.Issue(t, "one", "d3.example")
		later()
		_, err = revokeForBuyer(t, f, "one", "d3.example")
		storetest.WantError(t, err, "moves_used")
		if want := 362 * day; storetest.ErrorOf(err).RetryAfter != want || !slices.Equal(domainsOf(err), []string{"d3.example"}) {
			t.Errorf("wait %s, want %s; domains %v", storetest.ErrorOf(err).RetryAfter, want, domainsOf(err))
		}
		_, err = move(t, f, "one", "", "d4.example")
		storetest.WantError(t, err, "moves_used")
		now = now.Add(362 * day)
		f.Clock.Set(now)
		mustGiveUp(t, f, "one", "d3.example")
		f.Allow(t, 1, func(l *licensing.Rule) { l.MovesAYear = 0 })
		f.Issue(t, "two", "shop.example")
		_, err = revokeForBuyer(t, f, "two", "shop.example")
		storetest.WantError(t, err, "moves_used")
	})
}

func TestATestDomainIsGivenUpWithoutAMove(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		f.Issue(t, "one", "shop.example")
		for range 4 {
			f.Issue(t, "one", "localhost")
			mustGiveUp(t, f, "one", "localhost")
		}
		if _, err := move(t, f, "one", "", "new.example"); err != nil {
			t.Errorf("the test domain cost a move: %v", err)
		}
		f.Issue(t, "one", "localhost")
		mustGiveUp(t, f, "one", "localhost") // a move a moment ago does not matter either
	})
}

// The list of revoked licenses is read by all clients of the store, so no purchase
// can add to it without end.
func TestATestDomainThatWasGivenUpKeepsItsPlaceForAYear(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		for i := range 50 {
			domain := fmt.Sprintf("%d.test", i)
			f.Issue(t, "one", domain)
			mustGiveUp(t, f, "one", domain)
		}
		_, err := f.Licensing.Issue(t.Context(), storetest.Buyer, storetest.Issuer, "one", "0.test")
		storetest.WantError(t, err, "limit_reached")
		if !strings.Contains(storetest.MessageOf(err), "All 50 test domains of this purchase code are used, and a revoked one counts for a year") || len(domainsOf(err)) != 0 {
			t.Error(storetest.MessageOf(err), domainsOf(err))
		}
		f.Issue(t, "one", "shop.example") // those that count have places of their own
		f.Clock.Set(storetest.Noon.Add(365 * day))
		f.Issue(t, "one", "0.test")
	})
}

func TestOfManyWhoGiveUpAtOnceOneDoes(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		f.Issue(t, "one", "shop.example")
		audits := len(f.Audits(t))
		var all sync.WaitGroup
		var won atomic.Int64
		for range 30 {
			all.Go(func() {
				if _, err := f.Licensing.RevokeForBuyer(t.Context(), storetest.Buyer, "one", "shop.example", ""); err == nil {
					won.Add(1)
				} else {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := len(f.Audits(t)) - audits; won.Load() != 30 || n != 1 {
			t.Errorf("%d were told so, %d audits", won.Load(), n)
		}
	})
}

func TestALicenseThatWasGivenUpIsMovedByNobody(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		l := f.Issue(t, "one", "shop.example")
		mustGiveUp(t, f, "one", "shop.example")
		_, err := f.Licensing.Reassign(t.Context(), storetest.Operator, storetest.Issuer, l.License.ID, "next.example")
		storetest.WantError(t, err, "license_ended")
		if want := "Nothing changed: this license was revoked by its buyer on 2026-"; !strings.HasPrefix(storetest.MessageOf(err), want) {
			t.Error(storetest.MessageOf(err))
		}
	})
}

// Otherwise a buyer who gave up the last license in time could go on asking for others.
func TestALicenseThatWasGivenUpIsRevokedByItsSeller(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		l := f.Issue(t, "one", "shop.example")
		mustGiveUp(t, f, "one", "shop.example")
		f.Clock.Set(storetest.Noon.Add(time.Hour))
		revoked, err := f.Licensing.Revoke(t.Context(), storetest.Operator, l.License.ID)
		if err != nil || revoked.Ended != storedb.EndingRevoked || revoked.EndedAt != countersign.At(storetest.Noon.Add(time.Hour)) {
			t.Fatalf("%+v, %v", revoked.License, err)
		}
		_, issued := f.Licensing.Issue(t.Context(), storetest.Buyer, storetest.Issuer, "one", "shop.example")
		_, again := revokeForBuyer(t, f, "one", "shop.example")
		for _, err := range []error{issued, again} { // the operator's revoking ends all of it
			storetest.WantError(t, err, "purchase_not_found")
		}
		_, err = f.Licensing.Revoke(t.Context(), storetest.Operator, l.License.ID)
		storetest.WantError(t, err, "license_ended")
		if want := "Nothing changed: this license was revoked on 2026-"; !strings.HasPrefix(storetest.MessageOf(err), want) {
			t.Error(storetest.MessageOf(err))
		}
	})
}
