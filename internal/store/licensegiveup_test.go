package store

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/google/go-cmp/cmp"
)

func (f *fixture) revokeForBuyer(t testing.TB, code, domain string) (licensing.License, error) {
	t.Helper()
	return f.Licensing.RevokeForBuyer(t.Context(), buyer, code, domain, "")
}

func (f *fixture) mustGiveUp(t testing.TB, code, domain string) licensing.License {
	t.Helper()
	l, err := f.revokeForBuyer(t, code, domain)
	if err != nil {
		t.Fatalf("%s gives %s up: %v", code, domain, err)
	}
	return l
}

func TestALicenseThatIsGivenUpIsRevokedAndItsDomainIsFree(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		old := f.issue(t, "one", "old.example")
		gone := f.mustGiveUp(t, " ONE", "https://www.Old.example/")
		if gone.License.ID != old.License.ID || gone.Ended != storedb.EndingGivenUp || gone.EndedAt != countersign.At(noon) {
			t.Errorf("%+v", gone)
		}
		if diff := cmp.Diff([]string{old.License.ID}, f.revoked(t)); diff != "" {
			t.Error(diff)
		}
		if got, want := f.audits(t), "license.revoke ada "+old.License.ID; got[len(got)-1] != want {
			t.Errorf("%q, want %q", got[len(got)-1], want)
		}
		again := f.issue(t, "one", "new.example") // the buyer's issuing goes on
		if again.License.ID == old.License.ID || len(f.revoked(t)) != 1 {
			t.Errorf("%+v", again.License)
		}
	})
}

func TestGivingUpCanBeRepeated(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		f.issue(t, "one", "old.example")
		first, audits := f.mustGiveUp(t, "one", "old.example"), len(f.audits(t))
		f.clock.set(noon.Add(time.Hour))
		if again := f.mustGiveUp(t, "one", "old.example"); again.License != first.License {
			t.Errorf("%+v, want %+v", again.License, first.License)
		}
		f.issue(t, "one", "new.example")
		if again := f.mustGiveUp(t, "one", "old.example"); again.License != first.License {
			t.Errorf("after another license: %+v", again.License)
		}
		if got := f.audits(t); len(got) != audits+1 {
			t.Errorf("audits %v", got)
		}
	})
}

func TestOnlyTheLicenseThatIsMeantIsGivenUp(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		old := f.mustGiveUp(t, "one", f.issue(t, "one", "shop.example").Domain)
		f.clock.set(noon.Add(48 * time.Hour))
		used := f.issue(t, "one", "shop.example")
		revokeForBuyer := func(domain, id string) (licensing.License, error) {
			return f.Licensing.RevokeForBuyer(t.Context(), buyer, "one", domain, id)
		}
		for _, id := range []string{"no-such-license", f.issue(t, "two", "shop.example").License.ID} {
			_, err := revokeForBuyer("shop.example", id)
			wantError(t, err, countersign.CodeDomainNotActivated)
		}
		_, err := revokeForBuyer("other.example", used.License.ID)
		wantError(t, err, countersign.CodeDomainNotActivated)
		if again, err := revokeForBuyer("shop.example", old.License.ID); err != nil || again.License != old.License || len(f.revoked(t)) != 1 {
			t.Errorf("that of before: %+v, %v", again.License, err)
		}
		if gone, err := revokeForBuyer("shop.example", used.License.ID); err != nil || gone.License.ID != used.License.ID || len(f.revoked(t)) != 2 {
			t.Errorf("%+v, %v", gone.License, err)
		}
	})
}

func TestADomainThatIsNotInUseCannotBeGivenUp(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		f.allow(t, 1, func(l *licensing.Rule) {
			l.MovesAYear, l.MoveWaitHours, l.Wildcard, l.StagingHosts = 5, 0, true, []string{"staging.*"}
		})
		_, err := f.revokeForBuyer(t, "one", "shop.example")
		wantError(t, err, "domain_not_activated")
		f.issue(t, "one", "*.old.example")
		f.issue(t, "one", "localhost")
		for domain, used := range map[string]string{"x.example": "*.old.example", "blog.old.example": "*.old.example", "x.test": "localhost", "staging.x.example": "localhost"} {
			_, err := f.revokeForBuyer(t, "one", domain)
			wantError(t, err, "domain_not_activated")
			if got := domainsOf(err); !slices.Equal(got, []string{used}) {
				t.Errorf("%s: in use are %v", domain, got)
			}
		}
		for _, domain := range []string{"", "com", "a b"} {
			_, err := f.revokeForBuyer(t, "one", domain)
			wantError(t, err, "domain_invalid")
		}
		if _, err := f.move(t, "one", "", "new.example"); err != nil {
			t.Fatal(err)
		}
		_, err = f.revokeForBuyer(t, "one", "old.example") // it was moved away
		wantError(t, err, "domain_not_activated")
		f.mustGiveUp(t, "one", "*.new.example") // with or without the *
		if n := f.rows(t, "licenses"); n != 3 {
			t.Errorf("%d licenses", n)
		}
	})
}

// Or else giving up and issuing would go round the limit of moves.
func TestGivingUpCountsAsAMove(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		now := noon
		later := func() { now = now.Add(day); f.clock.set(now) }
		f.issue(t, "one", "d0.example")
		f.mustGiveUp(t, "one", "d0.example")
		f.issue(t, "one", "d1.example")
		_, err := f.revokeForBuyer(t, "one", "d1.example")
		wantError(t, err, "move_too_soon")
		_, err = f.move(t, "one", "", "d2.example")
		wantError(t, err, "move_too_soon")
		if waitOf(err) != day || !strings.Contains(messageOf(err), "moved or revoked") {
			t.Errorf("wait %s, %s", waitOf(err), messageOf(err))
		}
		later()
		if _, err := f.move(t, "one", "", "d2.example"); err != nil {
			t.Fatal(err)
		}
		later()
		f.mustGiveUp(t, "one", "d2.example")
		f.issue(t, "one", "d3.example")
		later()
		_, err = f.revokeForBuyer(t, "one", "d3.example")
		wantError(t, err, "moves_used")
		if want := 362 * day; waitOf(err) != want || !slices.Equal(domainsOf(err), []string{"d3.example"}) {
			t.Errorf("wait %s, want %s; domains %v", waitOf(err), want, domainsOf(err))
		}
		_, err = f.move(t, "one", "", "d4.example")
		wantError(t, err, "moves_used")
		now = now.Add(362 * day)
		f.clock.set(now)
		f.mustGiveUp(t, "one", "d3.example")
		f.allow(t, 1, func(l *licensing.Rule) { l.MovesAYear = 0 })
		f.issue(t, "two", "shop.example")
		_, err = f.revokeForBuyer(t, "two", "shop.example")
		wantError(t, err, "moves_used")
	})
}

func TestATestDomainIsGivenUpWithoutAMove(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		f.issue(t, "one", "shop.example")
		for range 4 {
			f.issue(t, "one", "localhost")
			f.mustGiveUp(t, "one", "localhost")
		}
		if _, err := f.move(t, "one", "", "new.example"); err != nil {
			t.Errorf("the test domain cost a move: %v", err)
		}
		f.issue(t, "one", "localhost")
		f.mustGiveUp(t, "one", "localhost") // a move a moment ago does not matter either
	})
}

// The list of revoked licenses is read by all clients of the store, so no purchase
// can add to it without end.
func TestATestDomainThatWasGivenUpKeepsItsPlaceForAYear(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		for i := range 50 {
			domain := fmt.Sprintf("%d.test", i)
			f.issue(t, "one", domain)
			f.mustGiveUp(t, "one", domain)
		}
		_, err := f.Licensing.Issue(t.Context(), buyer, issuer, "one", "0.test")
		wantError(t, err, "limit_reached")
		if !strings.Contains(messageOf(err), "All 50 test domains of this purchase code are used, and a revoked one counts for a year") || len(domainsOf(err)) != 0 {
			t.Error(messageOf(err), domainsOf(err))
		}
		f.issue(t, "one", "shop.example") // those that count have places of their own
		f.clock.set(noon.Add(365 * day))
		f.issue(t, "one", "0.test")
	})
}

func TestOfManyWhoGiveUpAtOnceOneDoes(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		f.issue(t, "one", "shop.example")
		audits := len(f.audits(t))
		var all sync.WaitGroup
		var won atomic.Int64
		for range 30 {
			all.Go(func() {
				if _, err := f.Licensing.RevokeForBuyer(t.Context(), buyer, "one", "shop.example", ""); err == nil {
					won.Add(1)
				} else {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := len(f.audits(t)) - audits; won.Load() != 30 || n != 1 {
			t.Errorf("%d were told so, %d audits", won.Load(), n)
		}
	})
}

func TestALicenseThatWasGivenUpIsMovedByNobody(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		l := f.issue(t, "one", "shop.example")
		f.mustGiveUp(t, "one", "shop.example")
		_, err := f.Licensing.Reassign(t.Context(), operator, issuer, l.License.ID, "next.example")
		wantError(t, err, "license_ended")
		if want := "Nothing changed: this license was revoked by its buyer on 2026-"; !strings.HasPrefix(messageOf(err), want) {
			t.Error(messageOf(err))
		}
	})
}

// Else a buyer who gives the last license up in time could go on asking for others.
func TestALicenseThatWasGivenUpIsRevokedByItsSeller(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		l := f.issue(t, "one", "shop.example")
		f.mustGiveUp(t, "one", "shop.example")
		f.clock.set(noon.Add(time.Hour))
		revoked, err := f.Licensing.Revoke(t.Context(), operator, l.License.ID)
		if err != nil || revoked.Ended != storedb.EndingRevoked || revoked.EndedAt != countersign.At(noon.Add(time.Hour)) {
			t.Fatalf("%+v, %v", revoked.License, err)
		}
		_, issued := f.Licensing.Issue(t.Context(), buyer, issuer, "one", "shop.example")
		_, again := f.revokeForBuyer(t, "one", "shop.example")
		for _, err := range []error{issued, again} { // the operator's revoking ends all of it
			wantError(t, err, "purchase_not_found")
		}
		_, err = f.Licensing.Revoke(t.Context(), operator, l.License.ID)
		wantError(t, err, "license_ended")
		if want := "Nothing changed: this license was revoked on 2026-"; !strings.HasPrefix(messageOf(err), want) {
			t.Error(messageOf(err))
		}
	})
}
