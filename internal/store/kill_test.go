package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/storetest"
)

func TestMain(m *testing.M) {
	storetest.Main(m, map[string]storetest.Act{
		"migrate": func(ctx context.Context, s *store.Store, _ func()) error { _, err := s.Migrate(ctx); return err },
		"key":     func(ctx context.Context, s *store.Store, _ func()) error { return createKey(ctx, s, "killed") },
		"rekey": func(ctx context.Context, s *store.Store, _ func()) error {
			_, err := s.Rekey(ctx, storetest.Operator)
			return err
		},
		"keys": func(ctx context.Context, s *store.Store, _ func()) error {
			for i := 0; ; i++ {
				if err := createKey(ctx, s, fmt.Sprint("killed ", i)); err != nil {
					return err
				}
				fmt.Println("made")
			}
		},
	})
}

func createKey(ctx context.Context, s *store.Store, name string) error {
	_, _, err := s.CreateKey(ctx, storetest.Operator, store.NewKey{Workspace: "ada", Name: name, Class: store.ClassSecret})
	return err
}

func TestKilledKeyCreateIsAllOrNothing(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		for step := range dbtest.Steps(f.At.Engine) {
			last := storetest.Killed(t, f.At, "key", step, 20)
			g := storetest.WantWhole(t, f)
			keys, audits := g.Rows(t, "keys"), strings.Count(strings.Join(g.Audits(t), "\n"), "key.create")
			if want := map[bool]int64{true: 1}[last]; keys != want || int64(audits) != want {
				t.Errorf("killed at step %d (done: %t): %d keys, %d lines of audit, want %d", step, last, keys, audits, want)
			}
			if last {
				break
			}
		}
	})
}

// What was acknowledged is there, and at most the one that was under way besides.
func TestKeysOutliveTheProcessThatMadeThem(t *testing.T) {
	t.Parallel()
	for _, engine := range dbtest.EnginesOf(t.Name()) {
		for round := range 5 {
			t.Run(engine+" "+storetest.Text(round), func(t *testing.T) {
				f := storetest.Prepared(t, storetest.TwoShopsStore.New(t, engine))
				heard := 0
				acknowledged := len(storetest.KilledWhen(t, f.At, "keys", 0, func(string) bool { heard++; return heard > 3*round }))
				if got := storetest.WantWhole(t, f).Rows(t, "keys"); got < int64(acknowledged) || got > int64(acknowledged)+1 {
					t.Errorf("%d keys were acknowledged, %d are there", acknowledged, got)
				}
			})
		}
	}
}

func TestKilledRekeyIsAllOrNothing(t *testing.T) {
	t.Parallel()
	storetest.TwoShopsStore.Engines(t, func(t *testing.T, place dbtest.DB) {
		r := newRekeyable(t, place)
		for step := range dbtest.Steps(place.Engine) {
			done := storetest.Killed(t, place, "rekey", step, 20)
			g := storetest.WantWhole(t, r.Fixture)
			r.wantServed(t, g)
			r.wantShown(t, g, "")
			if done {
				break
			}
		}
	})
}
