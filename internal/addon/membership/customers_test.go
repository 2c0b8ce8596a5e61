package membership

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play"
)

func (f *fixture) mustGrant(t *testing.T, user string, packageID int64, until time.Time) Grant {
	t.Helper()
	g := must.Get(f.AddGrant(t.Context(), program, user, packageID, until, "winner"))(t)
	return g
}

// listed are the users of a page of customers.
func listed(p CustomerPage) (users []string) {
	for _, c := range p.Customers {
		users = append(users, c.User)
	}
	return users
}

func TestCustomersAreListedByTheirLastChangePageByPage(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		for i := range 5 {
			f.mustGrant(t, fmt.Sprintf("user %d", i), gold, time.Time{})
			if i != 2 { // two changes at one time
				f.clock.Move(time.Second)
			}
		}
		page := func(filter CustomerFilter, want ...string) CustomerPage {
			t.Helper()
			filter.Limit = 2
			p, err := f.Customers(t.Context(), program, filter)
			if err != nil || !slices.Equal(listed(p), want) || p.Count != 5 {
				t.Errorf("%+v: %q of %d, %v; want %q", filter, listed(p), p.Count, err, want)
			}
			return p
		}
		first := page(CustomerFilter{}, "user 4", "user 3")
		second := page(CustomerFilter{Older: first.Older}, "user 2", "user 1")
		third := page(CustomerFilter{Older: second.Older}, "user 0")
		if first.Newer != "" || second.Newer == "" || third.Older != "" || third.Newer == "" {
			t.Errorf("%+v, %+v, %+v", first, second, third)
		}
		back := page(CustomerFilter{Newer: third.Newer}, "user 2", "user 1")
		page(CustomerFilter{Newer: back.Newer}, "user 4", "user 3")
		page(CustomerFilter{Older: "nonsense"}, "user 4", "user 3")
	})
}

func TestCustomersAreNarrowedToAStatus(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "a", "gold_monthly")
		f.bought(t, "ben", "b", "gold_monthly")
		f.change("b", state(play.OnHold))
		f.mustVerify(t, "ben", "b")
		for status, want := range map[entitle.Status][]string{"": {"ben", "ana"}, entitle.Active: {"ana"}, entitle.OnHold: {"ben"}, entitle.Revoked: nil} {
			p, err := f.Customers(t.Context(), program, CustomerFilter{Status: string(status)})
			if err != nil || !slices.Equal(listed(p), want) || p.Count != int64(len(want)) {
				t.Errorf("%q: %q of %d, %v", status, listed(p), p.Count, err)
			}
		}
	})
}

func TestACustomerIsReadAlsoWithoutAnything(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "a", "gold_monthly")
		c, err := f.Customer(t.Context(), program, "ana")
		if err != nil || c.Membership.Status != "active" || c.Environment != "production" || !c.ChangedAt.Equal(noon) {
			t.Errorf("%+v, %v", c, err)
		}
		c, err = f.Customer(t.Context(), program, "nobody")
		if err != nil || c.User != "nobody" || c.Membership.Status != "none" || !c.ChangedAt.IsZero() {
			t.Errorf("%+v, %v", c, err)
		}
		_, err = f.Customer(t.Context(), program, "a\x01")
		wantCode(t, err, "invalid_request")
	})
}

func TestAPurchaseHasDetailsForStaff(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		old := f.bought(t, "ana", "old", "silver_monthly").Purchase.ID
		next := sub("gold_monthly", f.accountOf("ana"))
		next.LinkedToken = "old"
		f.sell("new", next)
		f.mustVerify(t, "ana", "new")
		d, err := f.PurchaseFor(t.Context(), program, old)
		if err != nil || d.User != "ana" || d.SupersededBy == "" || d.Access || d.TokenLost || d.Region != "DE" || !d.ReadAt.Equal(noon) {
			t.Errorf("%+v, %v", d, err)
		}
		_, err = f.PurchaseFor(t.Context(), program, "pur_unknown")
		wantCode(t, err, "not_found")
	})
}

func TestARenewalIsDeferredByDays(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		id := f.bought(t, "ana", "token", "gold_monthly").Purchase.ID
		f.eventTypes()
		p, err := f.Defer(t.Context(), program, id, 7)
		if err != nil || !p.ExpiresAt.Equal(month.AddDate(0, 0, 7)) {
			t.Errorf("%+v, %v", p, err)
		}
		f.wantEvents(t, "renewed ana")
		for days, code := range map[int]string{0: "invalid_request", 366: "invalid_request", -1: "invalid_request"} {
			_, err := f.Defer(t.Context(), program, id, days)
			wantCode(t, err, code)
		}
		f.setDown(unavailable)
		_, err = f.Defer(t.Context(), program, id, 7)
		wantCode(t, err, "store_unavailable")
		f.setDown(nil)
		must.Get(f.Cancel(t.Context(), program, id, false))(t)
		_, err = f.Defer(t.Context(), program, id, 7)
		wantCode(t, err, "not_renewing")
	})
}

func TestWhatTheStoreRefusesIsAConflict(t *testing.T) {
	for failed, code := range map[error]string{
		&play.Error{Reason: play.Refused}: "store_refused", &play.Error{Reason: play.Gone}: "purchase_gone", errors.New("no route"): "store_unavailable",
	} {
		wantCode(t, actionRefusal(failed), code)
	}
}

func TestTheRealStoreIsNotAskedAboutSimulatedPurchases(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.selling.Simulated = true
		id := f.bought(t, "ana", "token", "gold_monthly").Purchase.ID
		f.selling.Simulated = false
		_, err := f.Refresh(t.Context(), program, id)
		wantCode(t, err, "other_store")
		expect.Equalf(t, f.store.count("token"), 0, "the store was asked")
	})
}
