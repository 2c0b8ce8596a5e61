package store_test

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/limit"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/storetest"
)

// shareLimits returns limits whose counts a store shares, as a server does.
func shareLimits(t *testing.T, f *storetest.Fixture, failures int) *limit.Guesses {
	t.Helper()
	g := limit.NewGuesses(limit.Options{Failures: failures, Name: f.LimitName, Now: f.Clock.Now})
	f.ShareLimits(t.Context(), g)
	return g
}

func TestServersOnOneDatabaseShareTheirLimits(t *testing.T) {
	place := storetest.EmptyStore.New(t, dbtest.Postgres)
	first := storetest.Prepared(t, place)
	second := first.Again(t)
	one, two := shareLimits(t, first, 10), shareLimits(t, second, 10)
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
		first.ExchangeLimits(t.Context(), false)
		second.ExchangeLimits(t.Context(), false)
	}
	if one.Allowed(addr) || two.Allowed(addr) {
		t.Error("ten failures at two servers, and the client may go on")
	}
	if ok, _ := two.TakeCode("issue", "code-in-clear"); ok {
		t.Error("a code's requests at one server are not counted at the other")
	}
	if rows := first.Dump(t, "limits"); strings.Contains(rows, "clear") || !strings.Contains(rows, "2001:db8::/48") {
		t.Errorf("rows: %s", rows)
	}
	if got := first.Rows(t, "limits"); got != 5 { // two networks, a code, two servers
		t.Errorf("%d rows", got)
	}
	second.LeaveLimits(t.Context())
	expect.Equalf(t, first.Rows(t, "limits"), 4, "rows after a server has left")
}

func TestServersOnOneDatabaseShareFailedSignIns(t *testing.T) {
	place := storetest.EmptyStore.New(t, dbtest.Postgres)
	first := storetest.Prepared(t, place)
	second := first.Again(t)
	shareLimits(t, first, 10)
	shareLimits(t, second, 10)
	exchange := func() {
		for range 2 {
			first.ExchangeLimits(t.Context(), false)
			second.ExchangeLimits(t.Context(), false)
		}
	}
	exchange()
	from := people.Origin{Addr: netip.MustParseAddr("192.0.2.7")}
	signIn := func(f *storetest.Fixture, email string) string {
		_, err := f.Instance.People.SignIn(t.Context(), from, email, newPassword)
		return storetest.CodeOf(err)
	}
	for i := range 10 {
		if got := signIn([]*storetest.Fixture{first, second}[i%2], "ada@secret.example"); got != "sign_in_refused" {
			t.Fatalf("attempt %d: %q", i, got)
		}
	}
	exchange()
	for name, f := range map[string]*storetest.Fixture{"first": first, "second": second} {
		expect.Equalf(t, signIn(f, "bob@secret.example"), "rate_limited", "ten failures at two servers, and the %s one says", name)
	}
	if rows := first.Dump(t, "limits"); strings.Contains(rows, "secret") || strings.Contains(rows, "192.0.2.7") {
		t.Errorf("rows: %s", rows)
	}
}

// A store that is opened later knows the counts of the first; on PostgreSQL each knows those of the other.
func TestServersOnOneDatabaseShareTheGuessesOfPurchaseCodes(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, storetest.Lines(storetest.PurchaseText("bob", 3, "his")))
		manager := f.MemberOf(t, "ada", store.RoleManager, "manager@shop.example")
		guess := func(f *storetest.Fixture, want string) {
			t.Helper()
			_, err := f.CreatePurchase(t.Context(), manager, "ada", store.Purchase{ItemID: 1, License: "Regular", Code: "his"})
			storetest.WantError(t, err, want)
		}
		first := f.Again(t)
		shareLimits(t, first, 600)
		for range 60 {
			guess(first, "purchase_exists")
		}
		first.ExchangeLimits(t.Context(), false)
		second := f.Again(t)
		shareLimits(t, second, 600)
		for range 40 {
			guess(second, "purchase_exists")
		}
		guess(second, "code_clashes")
		if f.At.Engine == dbtest.Postgres {
			second.ExchangeLimits(t.Context(), false)
			first.ExchangeLimits(t.Context(), false)
			guess(first, "code_clashes")
		}
	})
}

func TestLimitsSurviveARestart(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		before := f.Again(t)
		guesses := shareLimits(t, before, 600)
		addr := netip.MustParseAddr("192.0.2.1")
		for range 600 {
			guesses.Fail(addr)
		}
		for range 5 { // fewer than are worth telling while the server runs
			guesses.TakeCode("issue", "some-code")
		}
		before.LeaveLimits(t.Context()) // as Close does
		before.ForgetLimits()
		after := shareLimits(t, f.Again(t), 600)
		if after.Allowed(addr) {
			t.Error("a restart lets the client guess on")
		}
		for i := range 56 {
			if ok, _ := after.TakeCode("issue", "some-code"); ok != (i < 55) {
				t.Errorf("request %d after five before the restart: %t", i, ok)
			}
		}
		f.Clock.Set(storetest.Noon.Add(time.Minute))
		if !shareLimits(t, f.Again(t), 600).Allowed(addr) {
			t.Error("the minute is over")
		}
	})
}

// A server that is killed has written its counts before.
func TestLimitsAreWrittenInTheBackground(t *testing.T) {
	storetest.Engines(t, func(t *testing.T, f *storetest.Fixture) {
		guesses := shareLimits(t, f, 600)
		for range 600 {
			guesses.Fail(netip.MustParseAddr("192.0.2.1"))
		}
		f.ExchangeLimits(t.Context(), false)
		if shareLimits(t, f.Again(t), 600).Allowed(netip.MustParseAddr("192.0.2.1")) {
			t.Error("nothing was written")
		}
		guesses.Fail(netip.MustParseAddr("192.0.2.2"))
		before := f.Dump(t, "limits")
		f.ExchangeLimits(t.Context(), false)
		expect.Equalf(t, f.Dump(t, "limits"), before, "one failure was worth a write")
	})
}

func TestCountsOfLimitsAreBounded(t *testing.T) {
	storetest.Engines(t, func(t *testing.T, f *storetest.Fixture) {
		var counts []limit.Count
		for i := range 40 {
			counts = append(counts, limit.Count{Name: fmt.Sprintf("192.0.2.%d/32", i), N: 1 + i%20, Ends: storetest.Noon.Add(time.Minute)})
		}
		ended := limit.Count{Name: "198.51.100.1/32", N: 100, Ends: storetest.Noon}
		must.Do(t, f.DB().AddLimits(t.Context(), storetest.Noon, append(counts, ended)))
		must.Do(t, f.DB().PruneLimits(t.Context(), storetest.Noon, 10))
		left, err := f.DB().Limits(t.Context(), storetest.Noon, 100)
		if err != nil || len(left) != 10 {
			t.Fatalf("%d are left, %v", len(left), err)
		}
		for _, c := range left {
			if c.N < 16 || !c.Ends.Equal(storetest.Noon.Add(time.Minute)) {
				t.Errorf("%+v was kept", c)
			}
		}
	})
}

func TestACountThatIsOverBeginsAnew(t *testing.T) {
	storetest.Engines(t, func(t *testing.T, f *storetest.Fixture) {
		add := func(now time.Time, n int) limit.Count {
			t.Helper()
			must.Do(t, f.DB().AddLimits(t.Context(), now, []limit.Count{{Name: "192.0.2.1/32", N: n, Ends: now.Add(time.Minute)}}))
			list, err := f.DB().Limits(t.Context(), now, 10)
			if err != nil || len(list) != 1 {
				t.Fatalf("%v, %v", list, err)
			}
			return list[0]
		}
		add(storetest.Noon, 3)
		if c := add(storetest.Noon.Add(30*time.Second), 4); c.N != 7 || !c.Ends.Equal(storetest.Noon.Add(time.Minute)) {
			t.Errorf("within the minute: %+v", c)
		}
		if c := add(storetest.Noon.Add(time.Minute), 5); c.N != 5 || !c.Ends.Equal(storetest.Noon.Add(2*time.Minute)) {
			t.Errorf("after it: %+v", c)
		}
	})
}

func TestAStoreWithoutItsDatabaseCountsAlone(t *testing.T) {
	f := storetest.Prepared(t, storetest.EmptyStore.New(t, dbtest.Postgres))
	guesses := shareLimits(t, f, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	guesses.Fail(netip.MustParseAddr("192.0.2.1"))
	f.ExchangeLimits(ctx, false)
	if !f.LimitsAlone() || guesses.Allowed(netip.MustParseAddr("192.0.2.1")) {
		t.Error("what can't be written is forgotten")
	}
	f.ExchangeLimits(t.Context(), false)
	if f.LimitsAlone() || shareLimits(t, f.Again(t), 1).Allowed(netip.MustParseAddr("192.0.2.1")) {
		t.Error("it is not written once that is possible")
	}
}
