package limit

import (
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
)

// table plays the database through which servers exchange their counts.
type table map[string]Count

func (t table) exchange(now time.Time, newGuesses ...*Guesses) {
	for _, g := range newGuesses {
		sent := g.Unsent(false, 1000)
		for _, c := range sent {
			if old, ok := t[c.Name]; ok && old.Ends.After(now) {
				c.N, c.Ends = c.N+old.N, old.Ends
			}
			t[c.Name] = c
		}
		g.Sent(sent)
		var all []Count
		for _, c := range t {
			if c.Ends.After(now) {
				all = append(all, c)
			}
		}
		g.Merge(all)
		g.SetServers(len(newGuesses))
	}
}

func newGuesses(n, failures int, now func() time.Time) []*Guesses {
	list := make([]*Guesses, n)
	for i := range list {
		list[i] = NewGuesses(Options{Failures: failures, Now: now})
	}
	return list
}

// However an attacker spreads guesses over servers and over time, all servers together
// answer at most twice the limit a minute, and at least the limit.
func TestServersShareALimitWithinAFactorOfTwo(t *testing.T) {
	const limit = 600
	addr := netip.MustParseAddr("192.0.2.1")
	for _, servers := range []int{1, 2, 3, 8} {
		for name, burst := range map[string]int{"all at once": 700, "in bursts": 97, "slowly": 13} {
			t.Run(fmt.Sprintf("%d servers, %s", servers, name), func(t *testing.T) {
				c := newClock()
				all, shared := newGuesses(servers, limit, c.now), table{}
				shared.exchange(c.now(), all...)
				answered := 0
				for range 59 {
					for _, g := range all {
						for range burst {
							if g.Fail(addr) {
								answered++
							}
						}
					}
					shared.exchange(c.now(), all...)
					c.move(time.Second)
				}
				if answered > 2*limit || answered < limit {
					t.Errorf("%d failures were answered in a minute", answered)
				}
				for i, g := range all {
					if g.Allowed(addr) {
						t.Errorf("server %d still allows the address", i)
					}
				}
				c.move(2 * time.Minute)
				if !all[0].Allowed(addr) {
					t.Error("the minute is over")
				}
			})
		}
	}
}

func TestAServerThatStartsAnewKnowsWhatWasCounted(t *testing.T) {
	c := newClock()
	v4, v6 := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")
	before, shared := newGuesses(1, 3, c.now)[0], table{}
	for range 3 {
		before.Fail(v4)
		before.Fail(v6)
	}
	for range 60 {
		before.TakeCode("issue", "six-digits")
	}
	shared.exchange(c.now(), before)
	after := newGuesses(1, 3, c.now)[0]
	shared.exchange(c.now(), after)
	if after.Allowed(v4) || after.Allowed(v6) {
		t.Error("the failures are forgotten")
	}
	if ok, refused := after.TakeCode("issue", "Six-Digits "); ok || refused.Limit != 60 || refused.Wait != time.Hour {
		t.Errorf("the requests for a code are forgotten: %v %+v", ok, refused)
	}
	if got := after.Refusal(v4); got.Wait != time.Minute || got.Remaining != 0 {
		t.Errorf("refusal %+v", got)
	}
	for name := range shared {
		if strings.Contains(name, "six") {
			t.Errorf("a code is written: %s", name)
		}
	}
}

func TestMergingNeverForgetsWhatWasCountedHere(t *testing.T) {
	c := newClock()
	g := newGuesses(1, 100, c.now)[0]
	addr := netip.MustParseAddr("192.0.2.1")
	for range 50 {
		g.Fail(addr)
	}
	g.Merge([]Count{{"192.0.2.1/32", 10, c.now().Add(time.Second)}, {"192.0.2.1/32", 10, c.now()}, {"garbage", 5, c.now().Add(time.Hour)}, {"", 1, c.now()}})
	// 10 of others and 50 that were not sent
	if got := g.Refusal(addr); got.Remaining != 40 {
		t.Errorf("refusal %+v", got)
	}
	g.Merge([]Count{{"192.0.2.1/32", 1, c.now().Add(100 * time.Hour)}}) // by a clock that is far ahead
	if got := g.Refusal(addr); got.Wait > time.Minute {
		t.Errorf("refusal %+v", got)
	}
}

func TestWhatIsNotWorthTellingIsKept(t *testing.T) {
	c := newClock()
	g := newGuesses(1, 600, c.now)[0]
	addr := netip.MustParseAddr("192.0.2.1")
	for range 5 {
		g.Fail(addr)
		g.TakeCode("issue", "a code")
	}
	if list := g.Unsent(false, 10); len(list) != 0 {
		t.Errorf("told: %v", list)
	}
	list := g.Unsent(true, 10)
	if len(list) != 2 || list[0] != (Count{"192.0.2.1/32", 5, c.now().Add(time.Minute)}) || list[1].N != 5 {
		t.Errorf("told at the end: %v", list)
	}
	g.Sent(list)
	if list := g.Unsent(true, 10); len(list) != 0 {
		t.Errorf("told twice: %v", list)
	}
	for i := range 100 {
		for range 6 {
			g.Fail(netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}))
		}
	}
	if list := g.Unsent(false, 10); len(list) != 10 {
		t.Errorf("%d at once", len(list))
	}
	c.move(time.Minute)
	if list := g.Unsent(true, 1000); len(list) != 0 {
		t.Errorf("told of what is over: %v", list)
	}
}

func TestASiteHasTenTimesTheLimitOfAClient(t *testing.T) {
	g := newGuesses(1, 3, newClock().now)[0]
	failed := 0
	for i := range 20 {
		for range 10 {
			if g.Fail(netip.MustParseAddr(fmt.Sprintf("2001:db8:48:%x::1", i))) {
				failed++
			}
		}
	}
	expect.Equalf(t, failed, 30, "failures of a /48")
	fresh := netip.MustParseAddr("2001:db8:48:ffff::1")
	if g.Allowed(fresh) || g.Refusal(fresh).Limit != 30 {
		t.Errorf("another /64 of it: %t, %+v", g.Allowed(fresh), g.Refusal(fresh))
	}
	if !g.Allowed(netip.MustParseAddr("2001:db8:49::1")) || !g.Allowed(netip.MustParseAddr("192.0.2.1")) {
		t.Error("another /48, or IPv4, is refused")
	}
}

// A client that is past its own limit adds nothing to its /48.
func TestOneClientCantUseUpItsSite(t *testing.T) {
	g := newGuesses(1, 3, newClock().now)[0]
	for range 1000 {
		g.Fail(netip.MustParseAddr("2001:db8:48::1"))
	}
	if !g.Allowed(netip.MustParseAddr("2001:db8:48:1::1")) {
		t.Error("its neighbours are refused")
	}
}

func TestChecksAreCountedByClient(t *testing.T) {
	g := newGuesses(1, 600, newClock().now)[0]
	stranger, owner := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	for range 60 {
		g.TakeCheck(stranger, "", "id-in-every-file")
	}
	if ok, _ := g.TakeCheck(stranger, "", "ID-in-every-file"); ok {
		t.Error("the stranger checks on")
	}
	if ok, _ := g.TakeCheck(owner, "", "id-in-every-file"); !ok {
		t.Error("a stranger used up the owner's checks")
	}
}

// The lookup takes the spaces around a code away, however many they are.
func TestSpacesAroundACodeMakeNoOtherCode(t *testing.T) {
	g := NewGuesses(Options{Failures: 600})
	for range codeLimit {
		g.TakeCode("issue", "code")
	}
	for _, spaces := range []int{1, 250, 1000} {
		padded := strings.Repeat(" ", spaces) + "code" + strings.Repeat("\n", spaces)
		if ok, _ := g.TakeCode("issue", padded); ok {
			t.Errorf("a code between %d spaces is counted by itself, or not at all", spaces)
		}
	}
}

func TestAGuardOf0IsOff(t *testing.T) {
	g := newGuesses(1, 0, nil)[0]
	addr := netip.MustParseAddr("2001:db8::1")
	for range 1000 {
		ok, _ := g.TakeCode("issue", "code")
		checked, _ := g.TakeCheck(addr, "code", "id")
		if !g.Fail(addr) || !g.Allowed(addr) || !ok || !checked {
			t.Fatal("refused")
		}
	}
	if list := g.Unsent(true, 10); list != nil {
		t.Errorf("counted %v", list)
	}
}

func TestOfManyAtOnceNoMoreThanTheLimitAreCounted(t *testing.T) {
	g := newGuesses(1, 100, newClock().now)[0]
	var all sync.WaitGroup
	counted := make([]int, 8)
	for i := range counted {
		all.Go(func() {
			for range 100 {
				if g.Fail(netip.MustParseAddr("192.0.2.1")) {
					counted[i]++
				}
			}
		})
	}
	all.Wait()
	expect.Equalf(t, total(counted), 100, "were counted")
}

func total(list []int) (sum int) {
	for _, n := range list {
		sum += n
	}
	return sum
}

// Names are what other servers wrote into the database.
func FuzzMerge(f *testing.F) {
	for _, name := range []string{"192.0.2.1/32", "2001:db8::/48", "2001:db8::/64", "00112233445566778899aabbccddeeff", "::ffff:1.2.3.4/128", "/", "x", ""} {
		f.Add(name, 5, int64(60))
	}
	f.Fuzz(func(t *testing.T, name string, n int, seconds int64) {
		c := newClock()
		g := newGuesses(1, 3, c.now)[0]
		list := []Count{{name, n, c.now().Add(time.Duration(seconds) * time.Second)}}
		g.Merge(list)
		g.Sent(list)
		g.Merge(g.Unsent(true, 10))
	})
}
