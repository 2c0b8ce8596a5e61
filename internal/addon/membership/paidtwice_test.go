package membership

import (
	"slices"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play"
)

// subjects lists the subjects of the open alerts of a kind.
func (f *fixture) subjects(t *testing.T, kind string) (list []string) {
	t.Helper()
	alerts := must.Get(f.Alerts(t.Context(), program))(t)
	for _, a := range alerts {
		if a.Kind == kind {
			list = append(list, a.Subject)
		}
	}
	return list
}

func TestWhoPaysTwiceIsToldOnceUntilOneEnds(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		want := func(after string, open bool, events ...string) {
			t.Helper()
			expect.Equalf(t, slices.Contains(f.subjects(t, alertPaidTwice), "ana"), open, "after %s, the alert is open", after)
			if got := f.eventTypes(); !slices.Equal(got, events) {
				t.Errorf("after %s: events %q, want %q", after, got, events)
			}
		}
		change := func(token string, change func(*play.Subscription)) {
			t.Helper()
			f.change(token, change)
			f.mustVerify(t, "ana", token)
		}
		f.bought(t, "ana", "one", "gold_monthly")
		f.bought(t, "ben", "of-ben", "gold_monthly")
		want("one purchase", false, "activated ana", "activated ben")
		f.sell("two", linked("gold_monthly", f.accountOf("ana"), "one"))
		f.mustVerify(t, "ana", "two")
		f.eventTypes()
		want("its successor", false)
		f.bought(t, "ana", "other", "silver_monthly")
		want("another one", true, "paid_twice ana")
		f.bought(t, "ana", "third", "silver_monthly")
		change("two", renewed)
		want("a third one, and a renewal", true, "renewed ana")
		change("third", func(s *play.Subscription) { s.State = play.Expired })
		want("one of three", true)
		change("other", func(s *play.Subscription) { s.State, s.Items[0].AutoRenews = play.Canceled, false })
		want("the cancellation of one of two", false)
		change("other", func(s *play.Subscription) { s.State, s.Items[0].AutoRenews = play.Active, true })
		want("its restoration", true, "paid_twice ana")
		must.Do(t, f.DismissAlert(t.Context(), operator, alertPaidTwice, "ana"))
		change("two", func(s *play.Subscription) { s.Items[0].ExpiresAt = s.Items[0].ExpiresAt.AddDate(0, 1, 0) })
		want("it was dismissed", false, "renewed ana")
		must.Get(f.Merge(t.Context(), operator, "ana", "eva"))(t)
		want("a merge", false, "transferred ana", "transferred eva", "paid_twice eva")
		must.Get(f.Erase(t.Context(), operator, "eva", true))(t)
		if got := f.subjects(t, alertPaidTwice); len(got) > 0 {
			t.Errorf("after an erasure: %q", got)
		}
	})
}

func TestWhichPurchasesArePaid(t *testing.T) {
	source := func(id int64, change func(*entitle.Source)) entitle.Source {
		s := entitle.Source{Kind: entitle.FromStore, ID: id, Access: true, WillRenew: true, Product: "gold", Environment: entitle.Production, Until: time.Time{}}
		change(&s)
		return s
	}
	as := func(*entitle.Source) {}
	simulated := func(s *entitle.Source) { s.Environment = entitle.Simulated }
	for _, c := range []struct {
		rule    string
		sources []entitle.Source
		paid    int
	}{
		{"two purchases", []entitle.Source{source(1, as), source(2, as)}, 2},
		{"two products of one purchase", []entitle.Source{source(1, as), source(1, as)}, 1},
		{"one that is not renewed", []entitle.Source{source(1, as), source(2, func(s *entitle.Source) { s.WillRenew = false })}, 1},
		{"one without access", []entitle.Source{source(1, as), source(2, func(s *entitle.Source) { s.Access = false })}, 1},
		{"a grant", []entitle.Source{source(1, as), source(2, func(s *entitle.Source) { s.Kind = entitle.FromGrant })}, 1},
		{"one of the simulated store", []entitle.Source{source(1, as), source(2, simulated)}, 1},
		{"two of the simulated store", []entitle.Source{source(1, simulated), source(2, simulated)}, 2},
	} {
		if got := paidProducts(c.sources); len(got) != c.paid {
			t.Errorf("%s: %q", c.rule, got)
		}
	}
}
