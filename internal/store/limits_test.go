package store

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/limit"
)

// guarded returns a store with a guard that shares its counts, as a server does.
func (f *fixture) guarded(t *testing.T, failures int) *limit.Guard {
	t.Helper()
	g := limit.NewGuard(limit.Options{Failures: failures, Name: f.LimitName, Now: f.clock.Now})
	f.ShareLimits(t.Context(), g)
	return g
}

func TestServersOnOneDatabaseShareTheirLimits(t *testing.T) {
	place := emptyStore.New(t, dbtest.Postgres)
	first := prepared(t, place)
	second := first.again(t)
	one, two := first.guarded(t, 10), second.guarded(t, 10)
	addr := netip.MustParseAddr("2001:db8::1")
	for range 6 {
		one.Fail(addr)
	}
	for range 4 {
		two.Fail(addr)
	}
	for range 60 {
		one.TakeCode("issue", "code-in-clear")
	}
	for range 2 { // the first server hears of the second one's a second later
		first.exchangeLimits(t.Context(), false)
		second.exchangeLimits(t.Context(), false)
	}
	if one.Allowed(addr) || two.Allowed(addr) {
		t.Error("ten failures at two servers, and the client may go on")
	}
	if ok, _ := two.TakeCode("issue", "code-in-clear"); ok {
		t.Error("a code's requests at one server are not counted at the other")
	}
	if rows := first.dump(t, "limits"); strings.Contains(rows, "clear") || !strings.Contains(rows, "2001:db8::/48") {
		t.Errorf("rows: %s", rows)
	}
	if got := first.rows(t, "limits"); got != 5 { // two networks, a code, two servers
		t.Errorf("%d rows", got)
	}
	second.leaveLimits(t.Context())
	if got := first.rows(t, "limits"); got != 4 {
		t.Errorf("%d rows after a server has left", got)
	}
}

func TestLimitsSurviveARestart(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		before := f.again(t)
		guard := before.guarded(t, 600)
		addr := netip.MustParseAddr("192.0.2.1")
		for range 600 {
			guard.Fail(addr)
		}
		for range 5 { // fewer than are worth telling while the server runs
			guard.TakeCode("issue", "some-code")
		}
		before.leaveLimits(t.Context()) // as Close does
		before.limits.guard = nil
		after := f.again(t).guarded(t, 600)
		if after.Allowed(addr) {
			t.Error("a restart lets the client guess on")
		}
		for i := range 56 {
			if ok, _ := after.TakeCode("issue", "some-code"); ok != (i < 55) {
				t.Errorf("request %d after five before the restart: %t", i, ok)
			}
		}
		f.clock.set(noon.Add(time.Minute))
		if !f.again(t).guarded(t, 600).Allowed(addr) {
			t.Error("the minute is over")
		}
	})
}

// A server that is killed has written its counts before.
func TestLimitsAreWrittenInTheBackground(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		guard := f.guarded(t, 600)
		for range 600 {
			guard.Fail(netip.MustParseAddr("192.0.2.1"))
		}
		f.exchangeLimits(t.Context(), false)
		if f.again(t).guarded(t, 600).Allowed(netip.MustParseAddr("192.0.2.1")) {
			t.Error("nothing was written")
		}
		guard.Fail(netip.MustParseAddr("192.0.2.2"))
		before := f.dump(t, "limits")
		f.exchangeLimits(t.Context(), false)
		if got := f.dump(t, "limits"); got != before {
			t.Errorf("one failure was worth a write: %s", got)
		}
	})
}

func TestCountsOfLimitsAreBounded(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		var counts []limit.Count
		for i := range 40 {
			counts = append(counts, limit.Count{Name: fmt.Sprintf("192.0.2.%d/32", i), N: 1 + i%20, Ends: noon.Add(time.Minute)})
		}
		ended := limit.Count{Name: "198.51.100.1/32", N: 100, Ends: noon}
		if err := f.db.AddLimits(t.Context(), noon, append(counts, ended)); err != nil {
			t.Fatal(err)
		}
		if err := f.db.PruneLimits(t.Context(), noon, 10); err != nil {
			t.Fatal(err)
		}
		left, err := f.db.Limits(t.Context(), noon, 100)
		if err != nil || len(left) != 10 {
			t.Fatalf("%d are left, %v", len(left), err)
		}
		for _, c := range left {
			if c.N < 16 || !c.Ends.Equal(noon.Add(time.Minute)) {
				t.Errorf("%+v was kept", c)
			}
		}
	})
}

func TestACountThatIsOverBeginsAnew(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		add := func(now time.Time, n int) limit.Count {
			t.Helper()
			if err := f.db.AddLimits(t.Context(), now, []limit.Count{{Name: "192.0.2.1/32", N: n, Ends: now.Add(time.Minute)}}); err != nil {
				t.Fatal(err)
			}
			list, err := f.db.Limits(t.Context(), now, 10)
			if err != nil || len(list) != 1 {
				t.Fatalf("%v, %v", list, err)
			}
			return list[0]
		}
		add(noon, 3)
		if c := add(noon.Add(30*time.Second), 4); c.N != 7 || !c.Ends.Equal(noon.Add(time.Minute)) {
			t.Errorf("within the minute: %+v", c)
		}
		if c := add(noon.Add(time.Minute), 5); c.N != 5 || !c.Ends.Equal(noon.Add(2*time.Minute)) {
			t.Errorf("after it: %+v", c)
		}
	})
}

func TestAStoreWithoutItsDatabaseCountsAlone(t *testing.T) {
	f := prepared(t, emptyStore.New(t, dbtest.Postgres))
	guard := f.guarded(t, 1)
	ctx, cancel := contextWithCancel(t)
	cancel()
	guard.Fail(netip.MustParseAddr("192.0.2.1"))
	f.exchangeLimits(ctx, false)
	if !f.LimitsAlone() || guard.Allowed(netip.MustParseAddr("192.0.2.1")) {
		t.Error("what can't be written is forgotten")
	}
	f.exchangeLimits(t.Context(), false)
	if f.LimitsAlone() || f.again(t).guarded(t, 1).Allowed(netip.MustParseAddr("192.0.2.1")) {
		t.Error("it is not written once that is possible")
	}
}
