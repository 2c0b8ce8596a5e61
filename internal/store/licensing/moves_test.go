package licensing_test

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/license"
	"github.com/google/go-cmp/cmp"
)

const day = 24 * time.Hour

func move(t testing.TB, f *storetest.Fixture, code, from, domain string) (licensing.Signed, error) {
	t.Helper()
	return f.Licensing.Move(t.Context(), storetest.Buyer, storetest.Issuer, code, from, domain)
}

func TestAMoveFreesTheDomainAndRevokesItsLicense(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		old := f.Issue(t, "one", "old.example")
		moved := must.Get(move(t, f, "ONE", "", "https://new.example/"))(t)
		if _, err := license.Open(moved.Text, f.KeySet(t), "new.example", storetest.Noon); err != nil || moved.License.ID == old.License.ID {
			t.Errorf("%v", err)
		}
		expect.Equal(t, cmp.Diff([]string{old.License.ID}, f.Revoked(t)), "")
		if got, want := f.Audits(t), "license.move ada "+moved.License.ID; got[len(got)-1] != want {
			t.Errorf("%q, want %q", got[len(got)-1], want)
		}
		_, err := f.Licensing.Issue(t.Context(), storetest.Buyer, storetest.Issuer, "one", "old.example")
		storetest.WantError(t, err, "limit_reached")
	})
}

func TestAMoveCanBeRepeated(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		f.Issue(t, "one", "old.example")
		first := must.Get(move(t, f, "one", "old.example", "new.example"))(t)
		for _, from := range []string{"old.example", "", "new.example"} {
			again, err := move(t, f, "one", from, "new.example")
			if err != nil || again.Text != first.Text {
				t.Errorf("from %q: %v", from, err)
			}
		}
		expect.Equalf(t, f.Rows(t, "licenses"), 2, "licenses")
	})
}

func TestAMoveSaysWhichDomain(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		f.Allow(t, 1, func(l *licensing.Rule) { l.ExtendedDomains = 2 })
		_, err := move(t, f, "extended", "", "c.example")
		storetest.WantError(t, err, "domain_not_activated") // nothing to move yet
		f.Issue(t, "extended", "a.example")
		f.Issue(t, "extended", "b.example")
		f.Issue(t, "extended", "localhost")
		both := []string{"a.example", "b.example"}
		for from, code := range map[string]string{"": "from_missing", "x.example": "domain_not_activated", "localhost": "domain_not_activated", "co.uk": "domain_invalid"} {
			_, err := move(t, f, "extended", from, "c.example")
			storetest.WantError(t, err, code)
			got := domainsOf(err)
			slices.Sort(got)
			if diff := cmp.Diff(both, got); code != "domain_invalid" && diff != "" {
				t.Errorf("from %q: %s", from, diff)
			}
		}
		_, err = move(t, f, "extended", "a.example", "shop.test")
		storetest.WantError(t, err, "domain_free")
		_, err = move(t, f, "extended", "a.example", "com")
		storetest.WantError(t, err, "domain_invalid")
		must.Get(move(t, f, "extended", "WWW.b.example", "c.example"))(t)
		f.Issue(t, "extended", "a.example") // still there
	})
}

// Three times a year, and a day apart, unless the item says otherwise.
func TestMovesAreCounted(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		now := storetest.Noon
		at := func(after time.Duration) { now = now.Add(after); f.Clock.Set(now) }
		f.Issue(t, "one", "d0.example")
		cost := func(domain string) (licensing.MoveCost, error) {
			return f.Licensing.MoveCost(t.Context(), storetest.Buyer, "", licensing.Request{Code: "one", Domain: domain})
		}
		try := func(domain string) error {
			_, asked := cost(domain)
			_, err := move(t, f, "one", "", domain)
			expect.Equalf(t, storetest.CodeOf(asked), storetest.CodeOf(err), "%s: asking is %v, moving %v", domain, asked, err)
			return err
		}
		if got, err := cost("d1.example"); err != nil || got != (licensing.MoveCost{Left: 2, MovesAYear: 3, Wait: day}) {
			t.Errorf("the first move: %+v, %v", got, err)
		}
		if got, err := cost("d0.example"); err != nil || !got.Free {
			t.Errorf("no move: %+v, %v", got, err)
		}
		storetest.WantError(t, try("d1.example"), "")
		at(day - time.Second)
		err := try("d2.example")
		storetest.WantError(t, err, "move_too_soon")
		if storetest.ErrorOf(err).RetryAfter != time.Second || !slices.Equal(domainsOf(err), []string{"d1.example"}) {
			t.Errorf("wait %s, domains %v", storetest.ErrorOf(err).RetryAfter, domainsOf(err))
		}
		at(time.Second)
		storetest.WantError(t, try("d2.example"), "")
		at(day)
		storetest.WantError(t, try("d3.example"), "")
		at(day)
		err = try("d4.example")
		storetest.WantError(t, err, "moves_used")
		if want := 362 * day; storetest.ErrorOf(err).RetryAfter != want || !strings.Contains(storetest.MessageOf(err), "3 times") {
			t.Errorf("wait %s, want %s; %s", storetest.ErrorOf(err).RetryAfter, want, storetest.MessageOf(err))
		}
		at(362*day - time.Second)
		storetest.WantError(t, try("d4.example"), "moves_used")
		at(time.Second)
		storetest.WantError(t, try("d4.example"), "")
		f.Allow(t, 1, func(l *licensing.Rule) { l.MovesAYear, l.MoveWaitHours = 5, 0 })
		storetest.WantError(t, try("d5.example"), "")
		storetest.WantError(t, try("d6.example"), "")
		f.Allow(t, 1, func(l *licensing.Rule) { l.MovesAYear = 0 })
		err = try("d7.example")
		storetest.WantError(t, err, "moves_used")
		expect.Equalf(t, storetest.ErrorOf(err).RetryAfter, 0, "an item without moves says to come back in")
	})
}

func TestOfManyMovesAtOnceOneHappens(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		f.Issue(t, "one", "old.example")
		var all sync.WaitGroup
		var won atomic.Int64
		for i := range 30 {
			all.Go(func() {
				_, err := f.Licensing.Move(t.Context(), storetest.Buyer, storetest.Issuer, "one", "", storetest.Text(i)+".new.example")
				if err == nil {
					won.Add(1)
				} else if storetest.CodeOf(err) != "move_too_soon" {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if won.Load() != 1 || f.Rows(t, "licenses") != 2 {
			t.Errorf("%d moves, %d licenses", won.Load(), f.Rows(t, "licenses"))
		}
	})
}

func TestTheOperatorsMovesDoNotCount(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		l := f.Issue(t, "one", "d0.example")
		for i := range 5 {
			moved := must.Get(f.Licensing.Reassign(t.Context(), storetest.Operator, storetest.Issuer, l.License.ID, "d"+storetest.Text(i+1)+".example"))(t)
			l = moved
		}
		expect.Equalf(t, len(f.Revoked(t)), 5, "revoked")
		if _, err := move(t, f, "one", "", "mine.example"); err != nil {
			t.Error(err)
		}
		_, err := f.Licensing.Reassign(t.Context(), storetest.Operator, storetest.Issuer, l.License.ID, "x.example")
		storetest.WantError(t, err, "license_ended")
		_, err = f.Licensing.Reassign(t.Context(), storetest.Operator, storetest.Issuer, "nothing", "x.example")
		storetest.WantError(t, err, "license_not_found")
		_, err = f.Licensing.Reassign(t.Context(), storetest.Buyer, storetest.Issuer, l.License.ID, "x.example")
		storetest.WantError(t, err, "key_scope")
		f.Allow(t, 1, func(l *licensing.Rule) { l.ExtendedDomains = 2 })
		a, _ := f.Issue(t, "extended", "a.example"), f.Issue(t, "extended", "b.example")
		_, err = f.Licensing.Reassign(t.Context(), storetest.Operator, storetest.Issuer, a.License.ID, "b.example")
		storetest.WantError(t, err, "domain_activated")
	})
}

func TestLicensingIsHeldToItsLimits(t *testing.T) {
	storetest.Licensed(t, func(t *testing.T, f *storetest.Fixture) {
		for _, change := range []func(*licensing.Rule){
			func(l *licensing.Rule) { l.RegularDomains = -1 }, func(l *licensing.Rule) { l.ExtendedDomains = 1001 },
			func(l *licensing.Rule) { l.MovesAYear = -1 }, func(l *licensing.Rule) { l.MoveWaitHours = 8761 },
			func(l *licensing.Rule) { l.StagingHosts = []string{"co.uk"} }, func(l *licensing.Rule) { l.StagingHosts = []string{"a b"} },
			func(l *licensing.Rule) { l.StagingHosts = make([]string, 101) },
		} {
			_, err := f.Licensing.SetRule(t.Context(), storetest.Operator, 1, "", change)
			if storetest.CodeOf(err) != "invalid" && storetest.CodeOf(err) != "domain_invalid" {
				t.Errorf("%v", err)
			}
		}
		_, err := f.Licensing.SetRule(t.Context(), storetest.Operator, 99, "", func(*licensing.Rule) {})
		storetest.WantError(t, err, "item_not_found")
		i, err := f.Licensing.SetRule(t.Context(), storetest.Operator, 1, "", func(l *licensing.Rule) { l.StagingHosts = []string{"WWW.Staging.Example.", "Dev.*"} })
		if err != nil || !slices.Equal(i.Licensing.StagingHosts, []string{"staging.example", "dev.*"}) {
			t.Errorf("%v, %v", i.Licensing.StagingHosts, err)
		}
		must.Get(f.Licensing.SetRule(t.Context(), storetest.Operator, 1, "", func(*licensing.Rule) {}))(t)
		got := f.Audits(t)
		if len(got) < 2 || got[len(got)-1] != "item.licensing ada 1" || got[len(got)-2] == got[len(got)-1] {
			t.Error(got)
		}
		if last := f.NewestAudit(t); last.Before != "staging_hosts: []" || last.After != `staging_hosts: ["staging.example","dev.*"]` {
			t.Errorf("%+v", last)
		}
	})
}
