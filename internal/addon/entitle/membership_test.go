package entitle

import (
	"slices"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/expect"
)

func TestAMembershipComesFromTheBestSource(t *testing.T) {
	silver := Source{Kind: FromStore, ID: 1, Status: Active, Access: true, Package: 1, Rank: 1, Until: tomorrow}
	best := Source{Kind: FromStore, ID: 2, Status: Active, Access: true, Package: 2, Rank: 2, Until: noon.Add(time.Hour)}
	endless := Source{Kind: FromGrant, ID: 3, Status: Active, Access: true, Package: 2, Rank: 2}
	without := func(id int64, status Status, until time.Time) Source {
		return Source{Kind: FromStore, ID: id, Status: status, Package: 2, Rank: 9, Until: until, WillRenew: true, Action: FixPayment}
	}
	cases := []struct {
		name    string
		sources []Source
		want    Membership
	}{
		{"no source", nil, Membership{Status: None}},
		{"the higher rank, also when it ends first", []Source{silver, best}, Membership{Status: Active, Package: 2, Source: FromStore, SourceID: 2, Purchase: 2, Until: best.Until}},
		{"of one rank the one without an end", []Source{best, endless}, Membership{Status: Active, Package: 2, Source: FromGrant, SourceID: 3, Purchase: 2}},
		{"access before a higher rank without it", []Source{without(4, OnHold, past), silver}, Membership{Status: Active, Package: 1, Source: FromStore, SourceID: 1, Purchase: 1, Until: tomorrow}},
		{"of those without access the one that can be repaired", []Source{without(4, Expired, tomorrow), without(5, OnHold, past)}, Membership{Status: OnHold, Package: 2, Source: FromStore, SourceID: 5, Purchase: 5, Until: past, WillRenew: true, Action: FixPayment}},
		{"of those that ended the latest, which asks for nothing", []Source{without(4, Expired, tomorrow), without(5, Revoked, past)}, Membership{Status: Expired, Package: 2, Source: FromStore, SourceID: 4, Purchase: 4, Until: tomorrow}},
		{"a grant above a subscription, which is managed and asks for what it needs", []Source{endless, {Kind: FromStore, ID: 6, Status: Grace, Access: true, Package: 1, Rank: 1, Product: "silver", Action: FixPayment}},
			Membership{Status: Active, Package: 2, Source: FromGrant, SourceID: 3, Product: "silver", Purchase: 6, Action: FixPayment}},
		{"a grant above a subscription that is over", []Source{endless, without(7, Expired, past)}, Membership{Status: Active, Package: 2, Source: FromGrant, SourceID: 3}},
		{"failed and superseded purchases are not sources", []Source{without(4, Failed, past), without(5, Superseded, tomorrow)}, Membership{Status: None}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			expect.Equal(t, Derive(c.sources), c.want)
			slices.Reverse(c.sources)
			expect.Equalf(t, Derive(c.sources), c.want, "in the reverse order")
		})
	}
}

func TestEventsOfAChange(t *testing.T) {
	active := Membership{Status: Active, Package: 1, Source: FromStore, SourceID: 1, Purchase: 1, Until: tomorrow, WillRenew: true}
	with := func(change func(*Membership)) Membership {
		m := active
		change(&m)
		return m
	}
	status := func(s Status) Membership {
		return with(func(m *Membership) { m.Status, m.WillRenew = s, s != Expired && s != Revoked })
	}
	ends := with(func(m *Membership) { m.WillRenew = false })
	renewed := with(func(m *Membership) { m.Until = tomorrow.Add(time.Hour) })
	upgraded := with(func(m *Membership) { m.Package, m.WillRenew = 2, false })
	unverified := with(func(m *Membership) { m.Status, m.Unverified, m.WillRenew = Expired, true, false })
	cases := []struct {
		name          string
		before, after Membership
		want          []events.Type
	}{
		{"nothing changed", active, active, nil},
		{"a first purchase", Membership{Status: None}, active, []events.Type{events.MembershipActivated}},
		{"a payment arrived", status(Pending), active, []events.Type{events.MembershipActivated}},
		{"bought again after the end", status(Expired), active, []events.Type{events.MembershipActivated}},
		{"a payment is pending", Membership{Status: None}, Membership{Status: Pending}, []events.Type{events.MembershipChanged}},
		{"renewed", active, renewed, []events.Type{events.MembershipRenewed}},
		{"another package", active, with(func(m *Membership) { m.Package = 2 }), []events.Type{events.MembershipChanged}},
		{"another package that will not renew", active, upgraded, []events.Type{events.MembershipChanged, events.MembershipWillNotRenew}},
		{"cancelled", active, ends, []events.Type{events.MembershipWillNotRenew}},
		{"a cancellation was undone", ends, active, []events.Type{events.MembershipChanged}},
		{"a payment was declined", active, status(Grace), []events.Type{events.MembershipGraceStarted}},
		{"the store moved the end of the grace period", status(Grace), with(func(m *Membership) { m.Status, m.Until = Grace, tomorrow.Add(time.Hour) }), []events.Type{events.MembershipChanged}},
		{"recovered in grace with a new period", status(Grace), renewed, []events.Type{events.MembershipRenewed}},
		{"recovered in grace", status(Grace), active, []events.Type{events.MembershipResumed}},
		{"grace ended in a hold", status(Grace), status(OnHold), []events.Type{events.MembershipSuspended}},
		{"paused", active, status(Paused), []events.Type{events.MembershipSuspended}},
		{"recovered from a hold", status(OnHold), active, []events.Type{events.MembershipResumed}},
		{"resumed", status(Paused), active, []events.Type{events.MembershipResumed}},
		{"a hold ended without a payment", status(OnHold), status(Expired), []events.Type{events.MembershipExpired}},
		{"expired", active, status(Expired), []events.Type{events.MembershipExpired}},
		{"the last source is gone", active, Membership{Status: None}, []events.Type{events.MembershipExpired}},
		{"revoked", active, status(Revoked), []events.Type{events.MembershipRevoked}},
		{"revoked after its end", status(Expired), status(Revoked), []events.Type{events.MembershipRevoked}},
		{"the store did not answer for too long", active, unverified, []events.Type{events.MembershipSuspended}},
		{"the store answers again", unverified, active, []events.Type{events.MembershipResumed}},
		{"the store answers that it has ended", unverified, status(Expired), []events.Type{events.MembershipExpired}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := EventsFor(c.before, c.after); !slices.Equal(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

func TestWhenAPurchaseIsReadAgain(t *testing.T) {
	jitter := 30 * time.Second
	for _, c := range []struct {
		name string
		now  time.Duration // since the expiry
		want time.Duration
	}{
		{"before its expiry", -time.Hour, jitter},
		{"at its expiry", 0, jitter},
		{"after the first check", time.Minute, 5 * time.Minute},
		{"after the second", 5 * time.Minute, 30 * time.Minute},
		{"after the third", time.Hour, 2 * time.Hour},
		{"every two hours from then on", 3 * time.Hour, 5 * time.Hour},
		{"after the clock jumped a year", 365 * 24 * time.Hour, 365*24*time.Hour + 2*time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := NextExpiryCheck(noon, noon.Add(c.now), jitter); !got.Equal(noon.Add(c.want)) {
				t.Errorf("%s after the expiry", got.Sub(noon))
			}
		})
	}
}

func TestHeldPurchasesAreReadForSixtyFiveDays(t *testing.T) {
	day := 24 * time.Hour
	for _, c := range []struct {
		name    string
		held    time.Duration
		resumes time.Duration // from now, 0 for never
		wait    time.Duration
		more    bool
	}{
		{"every 12 hours", time.Hour, 0, 12 * time.Hour, true},
		{"no longer after 65 days", 65 * day, 0, 12 * time.Hour, false},
		{"when a pause ends", time.Hour, 2 * time.Hour, 2*time.Hour + time.Minute, true},
		{"a pause that ends after 65 days", 70 * day, 20 * day, 12 * time.Hour, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var resumes time.Time
			if c.resumes > 0 {
				resumes = noon.Add(c.resumes)
			}
			at, more := NextHeldCheck(noon.Add(-c.held), noon, resumes)
			if !at.Equal(noon.Add(c.wait)) || more != c.more {
				t.Errorf("after %s, %t", at.Sub(noon), more)
			}
		})
	}
}
