package store

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/license"
	"github.com/google/go-cmp/cmp"
)

const day = 24 * time.Hour

func (f *fixture) move(t testing.TB, code, from, domain string) (licensing.Signed, error) {
	t.Helper()
	return f.Licensing.Move(t.Context(), buyer, issuer, code, from, domain)
}

// waitOf is how long an error says to wait.
func waitOf(err error) time.Duration {
	var ours *countersign.Error
	if errors.As(err, &ours) {
		return ours.RetryAfter
	}
	return 0
}

func TestAMoveFreesTheDomainAndRevokesItsLicense(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		old := f.issue(t, "one", "old.example")
		moved, err := f.move(t, "ONE", "", "https://new.example/")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := license.Open(moved.Text, f.keySet(t), "new.example", noon); err != nil || moved.License.ID == old.License.ID {
			t.Errorf("%v", err)
		}
		if diff := cmp.Diff([]string{old.License.ID}, f.revoked(t)); diff != "" {
			t.Error(diff)
		}
		if got, want := f.audits(t), "license.move ada "+moved.License.ID; got[len(got)-1] != want {
			t.Errorf("%q, want %q", got[len(got)-1], want)
		}
		_, err = f.Licensing.Issue(t.Context(), buyer, issuer, "one", "old.example")
		wantError(t, err, "limit_reached")
	})
}

func TestAMoveCanBeRepeated(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		f.issue(t, "one", "old.example")
		first, err := f.move(t, "one", "old.example", "new.example")
		if err != nil {
			t.Fatal(err)
		}
		for _, from := range []string{"old.example", "", "new.example"} {
			again, err := f.move(t, "one", from, "new.example")
			if err != nil || again.Text != first.Text {
				t.Errorf("from %q: %v", from, err)
			}
		}
		if n := f.rows(t, "licenses"); n != 2 {
			t.Errorf("%d licenses", n)
		}
	})
}

func TestAMoveSaysWhichDomain(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		f.allow(t, 1, func(l *licensing.Rule) { l.ExtendedDomains = 2 })
		_, err := f.move(t, "extended", "", "c.example")
		wantError(t, err, "domain_not_activated") // nothing to move yet
		f.issue(t, "extended", "a.example")
		f.issue(t, "extended", "b.example")
		f.issue(t, "extended", "localhost")
		both := []string{"a.example", "b.example"}
		for from, code := range map[string]string{"": "from_missing", "x.example": "domain_not_activated", "localhost": "domain_not_activated", "co.uk": "domain_invalid"} {
			_, err := f.move(t, "extended", from, "c.example")
			wantError(t, err, code)
			got := domainsOf(err)
			slices.Sort(got)
			if diff := cmp.Diff(both, got); code != "domain_invalid" && diff != "" {
				t.Errorf("from %q: %s", from, diff)
			}
		}
		_, err = f.move(t, "extended", "a.example", "shop.test")
		wantError(t, err, "domain_free")
		_, err = f.move(t, "extended", "a.example", "com")
		wantError(t, err, "domain_invalid")
		if _, err := f.move(t, "extended", "WWW.b.example", "c.example"); err != nil {
			t.Fatal(err)
		}
		f.issue(t, "extended", "a.example") // still there
	})
}

// Three times a year, and a day apart, unless the item says otherwise.
func TestMovesAreCounted(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		now := noon
		at := func(after time.Duration) { now = now.Add(after); f.clock.set(now) }
		f.issue(t, "one", "d0.example")
		try := func(domain string) error {
			_, err := f.move(t, "one", "", domain)
			return err
		}
		wantError(t, try("d1.example"), "")
		at(day - time.Second)
		err := try("d2.example")
		wantError(t, err, "move_too_soon")
		if waitOf(err) != time.Second || !slices.Equal(domainsOf(err), []string{"d1.example"}) {
			t.Errorf("wait %s, domains %v", waitOf(err), domainsOf(err))
		}
		at(time.Second)
		wantError(t, try("d2.example"), "")
		at(day)
		wantError(t, try("d3.example"), "")
		at(day)
		err = try("d4.example")
		wantError(t, err, "moves_used")
		if want := 362 * day; waitOf(err) != want || !strings.Contains(messageOf(err), "3 times") {
			t.Errorf("wait %s, want %s; %s", waitOf(err), want, messageOf(err))
		}
		at(362*day - time.Second)
		wantError(t, try("d4.example"), "moves_used")
		at(time.Second)
		wantError(t, try("d4.example"), "")
		f.allow(t, 1, func(l *licensing.Rule) { l.MovesAYear, l.MoveWaitHours = 5, 0 })
		wantError(t, try("d5.example"), "")
		wantError(t, try("d6.example"), "")
		f.allow(t, 1, func(l *licensing.Rule) { l.MovesAYear = 0 })
		err = try("d7.example")
		wantError(t, err, "moves_used")
		if waitOf(err) != 0 {
			t.Errorf("an item without moves says to come back in %s", waitOf(err))
		}
	})
}

func TestOfManyMovesAtOnceOneHappens(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		f.issue(t, "one", "old.example")
		var all sync.WaitGroup
		var won atomic.Int64
		for i := range 30 {
			all.Go(func() {
				_, err := f.Licensing.Move(t.Context(), buyer, issuer, "one", "", text(i)+".new.example")
				if err == nil {
					won.Add(1)
				} else if codeOf(err) != "move_too_soon" {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if won.Load() != 1 || f.rows(t, "licenses") != 2 {
			t.Errorf("%d moves, %d licenses", won.Load(), f.rows(t, "licenses"))
		}
	})
}

func TestTheOperatorsMovesDoNotCount(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		l := f.issue(t, "one", "d0.example")
		for i := range 5 {
			moved, err := f.Licensing.Reassign(t.Context(), operator, issuer, l.License.ID, "d"+text(i+1)+".example")
			if err != nil {
				t.Fatal(err)
			}
			l = moved
		}
		if len(f.revoked(t)) != 5 {
			t.Errorf("%d revoked", len(f.revoked(t)))
		}
		if _, err := f.move(t, "one", "", "mine.example"); err != nil {
			t.Error(err)
		}
		_, err := f.Licensing.Reassign(t.Context(), operator, issuer, l.License.ID, "x.example")
		wantError(t, err, "license_ended")
		_, err = f.Licensing.Reassign(t.Context(), operator, issuer, "nothing", "x.example")
		wantError(t, err, "license_not_found")
		_, err = f.Licensing.Reassign(t.Context(), buyer, issuer, l.License.ID, "x.example")
		wantError(t, err, "key_scope")
		f.allow(t, 1, func(l *licensing.Rule) { l.ExtendedDomains = 2 })
		a, _ := f.issue(t, "extended", "a.example"), f.issue(t, "extended", "b.example")
		_, err = f.Licensing.Reassign(t.Context(), operator, issuer, a.License.ID, "b.example")
		wantError(t, err, "domain_activated")
	})
}

func TestLicensingIsHeldToItsLimits(t *testing.T) {
	licensed(t, func(t *testing.T, f *fixture) {
		for _, change := range []func(*licensing.Rule){
			func(l *licensing.Rule) { l.RegularDomains = -1 }, func(l *licensing.Rule) { l.ExtendedDomains = 1001 },
			func(l *licensing.Rule) { l.MovesAYear = -1 }, func(l *licensing.Rule) { l.MoveWaitHours = 8761 },
			func(l *licensing.Rule) { l.StagingHosts = []string{"co.uk"} }, func(l *licensing.Rule) { l.StagingHosts = []string{"a b"} },
			func(l *licensing.Rule) { l.StagingHosts = make([]string, 101) },
		} {
			_, err := f.Licensing.SetRule(t.Context(), operator, 1, change)
			if codeOf(err) != "invalid" && codeOf(err) != "domain_invalid" {
				t.Errorf("%v", err)
			}
		}
		_, err := f.Licensing.SetRule(t.Context(), operator, 99, func(*licensing.Rule) {})
		wantError(t, err, "item_not_found")
		i, err := f.Licensing.SetRule(t.Context(), operator, 1, func(l *licensing.Rule) { l.StagingHosts = []string{"WWW.Staging.Example.", "Dev.*"} })
		if err != nil || !slices.Equal(i.Licensing.StagingHosts, []string{"staging.example", "dev.*"}) {
			t.Errorf("%v, %v", i.Licensing.StagingHosts, err)
		}
		if _, err := f.Licensing.SetRule(t.Context(), operator, 1, func(*licensing.Rule) {}); err != nil {
			t.Fatal(err)
		}
		got := f.audits(t)
		if len(got) < 2 || got[len(got)-1] != "item.licensing ada 1" || got[len(got)-2] == got[len(got)-1] {
			t.Error(got)
		}
		last, err := (&peopledb.DB{Queries: f.database.Queries()}).Audits(t.Context(), peopledb.AuditFilter{Limit: 1})
		if err != nil || last[0].Before != "staging_hosts: []" || last[0].After != `staging_hosts: ["staging.example","dev.*"]` {
			t.Errorf("%+v, %v", last, err)
		}
	})
}
