package membership

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/countersign/countersign/internal/addon/entitle"
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

// chainsSeen lists every subset of chains of up to four tokens in every order, and every subset of longer ones in some order.
func chainsSeen() (list []oneChain) {
	random := rand.New(rand.NewPCG(1, 2))
	for length := 2; length <= 6; length++ {
		for subset := 1; subset < 1<<length; subset++ {
			var tokens []int
			for i := range length {
				if subset>>i&1 == 1 {
					tokens = append(tokens, i)
				}
			}
			orders := permutations(tokens)
			if length > 4 {
				orders = [][]int{orders[random.IntN(len(orders))]}
			}
			for _, seen := range orders {
				c := oneChain{name: fmt.Sprintf("%d-of-%d-%d", len(seen), length, len(list)), seen: seen}
				for range length - 1 {
					c.changes = append(c.changes, planChange(random.IntN(3)))
				}
				list = append(list, c)
			}
		}
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

// see verifies the tokens in their order, and deferred changes once more when they have taken effect.
func (c oneChain) see(t *testing.T, f *fixture, user string) {
	t.Helper()
	for _, i := range c.seen {
		f.mustVerify(t, user, c.token(user, i))
	}
	for i := range c.changes {
		f.change(c.token(user, i+1), func(s *play.Subscription) { s.Items[0].Deferred = "" })
	}
	for _, i := range c.seen {
		if i > 0 && c.changes[i-1] == deferred {
			f.mustVerify(t, user, c.token(user, i))
		}
	}
}

func TestOneSubscriptionMakesOneMemberInEveryOrder(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		for _, c := range chainsSeen() {
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
			if t.Failed() {
				t.Fatalf("%s: changes %v, seen %v", c.name, c.changes, c.seen)
			}
		}
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
		if err := Reseal(t.Context(), f.db, f.box(), f.box()); err != nil {
			t.Fatal(err)
		}
		f.mustVerify(t, "ana", "ana-0")
		f.wantStatus(t, "ana-0", entitle.Superseded)
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
