package membership

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play"
)

// A planChange is how a subscription takes the place of the one before.
type planChange int

const (
	upgraded planChange = iota
	downgraded
	deferred // it takes effect after all were seen
)

// oneChain is a subscription of several tokens, and which of them are seen, in which order.
type oneChain struct {
	name    string
	changes []planChange // of all tokens but the first
	seen    []int
}

// changesOfEach is with how many combinations of changes every order of every part of a chain of up to six tokens is seen.
var changesOfEach = flag.Int("chains", 0, "see every order of every part of chains of up to six tokens, each with so many combinations of changes; 0: a selection")

// chainsSeen lists every part of chains of up to six tokens: of the shorter ones in every order, of the others in some order.
func chainsSeen(random *rand.Rand) (list []oneChain) {
	longest, combinations := 3, 1 // of those in every order
	if *changesOfEach > 0 {
		longest, combinations = 6, *changesOfEach
	}
	for length := 2; length <= 6; length++ {
		for subset := 1; subset < 1<<length; subset++ {
			var tokens []int
			for i := range length {
				if subset>>i&1 == 1 {
					tokens = append(tokens, i)
				}
			}
			orders := permutations(tokens)
			if length > longest {
				orders = [][]int{orders[random.IntN(len(orders))]}
			}
			for _, seen := range orders {
				for _, changes := range someChanges(random, length-1, combinations) {
					list = append(list, oneChain{name: fmt.Sprintf("%d-of-%d-%d", len(seen), length, len(list)), seen: seen, changes: changes})
				}
			}
		}
	}
	return list
}

// someChanges returns combinations of n changes, each once: all, or as many as wanted.
func someChanges(random *rand.Rand, n, wanted int) (list [][]planChange) {
	all := 1
	for range n {
		all *= 3
	}
	for _, number := range random.Perm(all)[:min(all, wanted)] {
		changes := make([]planChange, n)
		for i := range changes {
			changes[i] = planChange(number % 3)
			number /= 3
		}
		list = append(list, changes)
	}
	return list
}

func permutations(of []int) (all [][]int) {
	if len(of) < 2 {
		return [][]int{of}
	}
	for i := range of {
		rest := slices.Delete(slices.Clone(of), i, i+1)
		for _, p := range permutations(rest) {
			all = append(all, append([]int{of[i]}, p...))
		}
	}
	return all
}

// token is one of a chain of a user.
func (c oneChain) token(user string, i int) string { return fmt.Sprintf("%s-%d", user, i) }

// sell has the store sell the tokens, without account ids.
func (c oneChain) sell(f *fixture, user string) {
	for i := range len(c.changes) + 1 {
		s := sub("gold_monthly", "")
		if i > 0 {
			s = linked("gold_monthly", "", c.token(user, i-1))
			switch c.changes[i-1] {
			case downgraded:
				s.Items[0].ProductID = "silver_monthly"
			case deferred:
				s.Items[0].Deferred = "silver_monthly"
			}
		}
		f.sell(c.token(user, i), s)
	}
}

// see verifies the tokens in their order, and deferred changes once more when they have taken effect. Another user presents
// tokens meanwhile, and all of them in the end.
func (c oneChain) see(t *testing.T, f *fixture, user string) {
	t.Helper()
	for n, i := range c.seen {
		f.mustVerify(t, user, c.token(user, i))
		c.wantNobodyElses(t, f, user, (i+n+1)%(len(c.changes)+1)) // seen before, seen later or never
	}
	for i := range c.changes {
		f.change(c.token(user, i+1), func(s *play.Subscription) { s.Items[0].Deferred = "" })
	}
	for _, i := range c.seen {
		if i > 0 && c.changes[i-1] == deferred {
			f.mustVerify(t, user, c.token(user, i))
		}
	}
	for i := range len(c.changes) + 1 {
		c.wantNobodyElses(t, f, user, i)
	}
}

// wantNobodyElses has another user present a token of the chain.
func (c oneChain) wantNobodyElses(t *testing.T, f *fixture, user string, i int) {
	t.Helper()
	_, err := f.Verify(t.Context(), "not-"+user, c.token(user, i), "")
	wantCode(t, err, "owned_by_other_user")
	f.wantMembership(t, "not-"+user, entitle.None, 0, 0)
}

func TestOneSubscriptionMakesOneMemberInEveryOrder(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		chains := chainsSeen(rand.New(rand.NewPCG(1, 2)))
		for _, c := range chains {
			user := "ana-" + c.name
			c.sell(f, user)
			c.see(t, f, user)
			newest := slices.Max(c.seen)
			for _, i := range c.seen {
				want := entitle.Superseded
				if i == newest {
					want = entitle.Active
				}
				f.wantStatus(t, c.token(user, i), want)
			}
			m, err := membershipOf(t.Context(), f.db, user)
			if err != nil || m.Status != string(entitle.Active) {
				t.Errorf("the owner has %s, %v", m.Status, err)
			}
			if t.Failed() {
				t.Fatalf("%s: changes %v, seen %v", c.name, c.changes, c.seen)
			}
		}
		t.Logf("%d chains", len(chains))
	})
}

func TestATokenBehindThoseThatWereSeenIsNobodyElses(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		c := oneChain{changes: []planChange{upgraded, downgraded}}
		c.sell(f, "ana")
		f.mustVerify(t, "ana", "ana-2")
		_, err := f.Verify(t.Context(), "ben", "ana-0", "")
		wantCode(t, err, "owned_by_other_user")
		f.wantMembership(t, "ben", entitle.None, 0, 0)
		must.Do(t, Reseal(t.Context(), f.db, f.box(), f.box()))
		f.mustVerify(t, "ana", "ana-0")
		f.wantStatus(t, "ana-0", entitle.Superseded)
	})
}

// open are replacements that have not taken place yet.
var open = map[string]func(*play.Subscription){
	"pending":  func(s *play.Subscription) { s.State = play.Pending },
	"deferred": func(s *play.Subscription) { s.Items[0].Deferred = "silver_monthly" },
}

func TestATokenBehindAnOpenReplacementIsNobodyElses(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		for name, change := range open {
			user := "ana-" + name
			c := oneChain{changes: []planChange{upgraded, upgraded}}
			c.sell(f, user)
			f.change(c.token(user, 2), change)
			f.mustVerify(t, user, c.token(user, 2))
			for range 2 {
				c.wantNobodyElses(t, f, user, 1)
				c.wantNobodyElses(t, f, user, 0)
				must.Do(t, Reseal(t.Context(), f.db, f.box(), f.box()))
			}
			f.mustVerify(t, user, c.token(user, 1))
			f.wantStatus(t, c.token(user, 1), entitle.Active)
		}
	})
}

func TestOfTwoUsersWithTokensOfOneChainAtOnceOneIsTheOwner(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		other := opened(t, f.at) // another process
		other.store, other.openStore = f.store, f.openStore
		for round := range 30 {
			user := fmt.Sprint("ana-", round)
			c := oneChain{changes: []planChange{planChange(round % 3)}}
			c.sell(f, user)
			errs := make([]error, 2)
			var both sync.WaitGroup
			both.Go(func() { _, errs[0] = f.Verify(t.Context(), user, c.token(user, 0), "") })
			both.Go(func() { _, errs[1] = other.Verify(t.Context(), "not-"+user, c.token(user, 1), "") })
			both.Wait()
			if !slices.ContainsFunc(errs, func(err error) bool { return err == nil }) || errors.Join(errs...) == nil {
				t.Errorf("changes %v: %v", c.changes, errs)
			}
		}
	})
}

func TestAnOutageWithinAChainQueuesTheVerification(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		c := oneChain{changes: []planChange{upgraded, upgraded}}
		c.sell(f, "ana")
		f.mustVerify(t, "ana", "ana-0")
		f.store.asked = func(token string) {
			if token == "ana-2" {
				f.setDown(unavailable)
			}
		}
		if o, err := f.Verify(t.Context(), "ana", "ana-2", ""); err != nil || o.Result != ResultQueued {
			t.Errorf("%+v, %v", o, err)
		}
		f.store.asked = nil
		f.setDown(nil)
		f.mustVerify(t, "ana", "ana-2")
		f.wantStatus(t, "ana-0", entitle.Superseded)
	})
}

func TestTokensOfOneChainAtOnceMakeOneMember(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		for round := range 20 {
			user := fmt.Sprint("ana", round)
			c := oneChain{changes: []planChange{upgraded, upgraded}}
			c.sell(f, user)
			var all sync.WaitGroup
			for _, i := range []int{0, 2} {
				all.Go(func() {
					if _, err := f.Verify(t.Context(), user, c.token(user, i), ""); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			f.wantStatus(t, c.token(user, 0), entitle.Superseded)
			f.wantStatus(t, c.token(user, 2), entitle.Active)
		}
	})
}
