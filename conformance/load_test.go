package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/play"
)

// The kinds of deeds.
const (
	doVerify = "verify"
	doNotify = "notify"
	doMerge  = "merge"
	doErase  = "erase"
)

// deed is something that happens to a user. It can be repeated.
type deed struct{ Do, User, To, Token string }

// story is what happens to the owners of one subscription. The deeds of a step are done at once.
type story struct {
	Number int
	Steps  [][]deed
	// Owners are the users of whom one has the subscription in the end; none if it was erased.
	Owners, Users []string
}

// storyKinds are what can happen with three tokens of one subscription and two users. The last step of each is
// final, whatever the order of the deeds before.
var storyKinds = []struct {
	gone, unbound bool // both users are erased in the end; the tokens have no account ids
	owners        string
	steps         func(a, b string, tokens []string) [][]deed
}{
	{owners: "a", steps: func(a, _ string, t []string) [][]deed {
		return [][]deed{{verify(a, t[0]), verify(a, t[1]), verify(a, t[2])}, {verify(a, t[2])}}
	}},
	{owners: "a", steps: func(a, b string, t []string) [][]deed {
		return [][]deed{{verify(a, t[0]), verify(b, t[1]), notify(t[2])}, {verify(a, t[2]), verify(b, t[0])}}
	}},
	{owners: "b", steps: func(a, b string, t []string) [][]deed {
		return [][]deed{{verify(a, t[0])}, {verify(a, t[1]), merge(a, b)}, {verify(b, t[2])}, {merge(a, b)}}
	}},
	{owners: "b", steps: func(a, b string, t []string) [][]deed {
		return [][]deed{{verify(a, t[2])}, {merge(a, b), verify(b, t[1])}}
	}},
	{owners: "ab", unbound: true, steps: func(a, b string, t []string) [][]deed {
		return [][]deed{{verify(a, t[0]), verify(b, t[2]), verify(a, t[1])}, {verify(a, t[2])}, {verify(b, t[2])}}
	}},
	{gone: true, steps: func(a, b string, t []string) [][]deed {
		return [][]deed{{verify(a, t[0]), verify(b, t[1])}, {verify(a, t[1]), erase(a), notify(t[2])}, {verify(a, t[2])}, {erase(a), erase(b)}}
	}},
	{gone: true, unbound: true, steps: func(a, b string, t []string) [][]deed {
		return [][]deed{{verify(a, t[0])}, {merge(a, b), erase(b), verify(a, t[1])}, {verify(b, t[2]), erase(a)}, {erase(a), erase(b)}}
	}},
}

func verify(user, token string) deed { return deed{Do: doVerify, User: user, Token: token} }
func notify(token string) deed       { return deed{Do: doNotify, Token: token} }
func merge(user, to string) deed     { return deed{Do: doMerge, User: user, To: to} }
func erase(user string) deed         { return deed{Do: doErase, User: user} }

// prefixGone begins the ids of users who are erased.
const prefixGone = "gone-"

// tell buys what a story needs: silver, an upgrade and a downgrade.
func (s *site) tell(number int, random *rand.Rand) story {
	s.t.Helper()
	kind := storyKinds[number%len(storyKinds)]
	prefix := map[bool]string{true: prefixGone}[kind.gone]
	a, b := fmt.Sprintf("%sa-%d", prefix, number), fmt.Sprintf("%sb-%d", prefix, number)
	buyer := map[bool]string{false: a}[kind.unbound]
	var tokens []string
	for i, product := range []string{silver, gold, silver} {
		p := purchase{product: product}
		if i > 0 {
			p.replaces = tokens[i-1]
		}
		tokens = append(tokens, s.buy(buyer, p))
		if i < 2 { // what is replaced has to be acknowledged
			s.front.acknowledge(s.t, product, tokens[i])
		}
	}
	told := story{Number: number, Steps: kind.steps(a, b, tokens), Users: []string{a, b}}
	for _, owner := range kind.owners {
		told.Owners = append(told.Owners, map[rune]string{'a': a, 'b': b}[owner])
	}
	for _, step := range told.Steps {
		random.Shuffle(len(step), func(i, j int) { step[i], step[j] = step[j], step[i] })
	}
	return told
}

// wantTold compares what a story has left behind.
func (s *site) wantTold(told story) {
	s.t.Helper()
	active, known := []string{}, 0
	for _, user := range told.Users {
		states := strings.Fields(s.states(user))
		known += len(states)
		for _, state := range states {
			if state == "active" {
				active = append(active, user)
			}
		}
		if m := s.membership(user); m.Active != slices.Contains(active, user) {
			s.t.Errorf("%s has the membership %s and the purchases %v", user, m.Status, states)
		}
	}
	switch {
	case len(told.Owners) == 0 && known > 0, len(told.Owners) > 0 && (len(active) != 1 || !slices.Contains(told.Owners, active[0])):
		s.t.Errorf("story %d: active for %v of %v, %d purchases: %v", told.Number, active, told.Owners, known, told.Steps)
	}
}

// beUnderLoad goes on with stories until it is killed. It prints each step that is done, and whenever it asks for the time.
func beUnderLoad(place dbtest.DB, now time.Time) error {
	var told []story
	text, err := os.ReadFile(os.Getenv(envStories))
	if err == nil {
		err = json.Unmarshal(text, &told)
	}
	if err != nil {
		return err
	}
	a, err := openAddon(place, os.Getenv(envPlay), func() time.Time { fmt.Println(lineTime); return now })
	if err != nil {
		return err
	}
	ctx := context.Background()
	if err := errors.Join(a.Prepare(ctx), a.Members.Start(ctx)); err != nil {
		return err
	}
	var all errgroup.Group
	all.Go(func() error { return a.RunDue(ctx) })
	for _, one := range told {
		all.Go(func() error { return one.live(ctx, a) })
	}
	if err := all.Wait(); err != nil {
		return err
	}
	fmt.Println(lineDone)
	select {}
}

// What a process prints beside the stories.
const lineTime, lineDone = "time", "done"

// live does the steps of a story, and some of the tasks that are due.
func (told story) live(ctx context.Context, a *addon.Addon) error {
	for _, step := range told.Steps {
		var together errgroup.Group
		for _, d := range step {
			together.Go(func() error { return d.doFinally(ctx, a) })
		}
		if err := together.Wait(); err != nil {
			return err
		}
		fmt.Println("story", told.Number)
		if err := a.RunDue(ctx); err != nil {
			return err
		}
	}
	return nil
}

// doFinally does a deed until its outcome is final.
func (d deed) doFinally(ctx context.Context, a *addon.Addon) error {
	for range 100 {
		err := d.do(ctx, a)
		apiErr, _ := errors.AsType[*countersign.Error](err)
		switch {
		case err == nil, apiErr != nil && apiErr.Code == "owned_by_other_user":
			return nil
		case apiErr == nil || apiErr.Code != "conflict":
			return fmt.Errorf("%+v: %w", d, err)
		}
	}
	return fmt.Errorf("%+v: always a conflict", d)
}

func (d deed) do(ctx context.Context, a *addon.Addon) (err error) {
	switch d.Do {
	case doVerify:
		_, err = a.Members.Verify(ctx, d.User, d.Token, "")
	case doNotify:
		n := play.Notification{MessageID: "about " + sumOf(d.Token), Package: appPackage, Kind: play.OfSubscription, Code: 4, Token: d.Token}
		err = a.Members.Receive(ctx, n, []byte("{}"))
	case doMerge:
		_, err = a.Members.Merge(ctx, operator, d.User, d.To)
	case doErase:
		_, err = a.Members.Erase(ctx, operator, d.User, true)
	}
	return err
}
