package main

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestWelch(t *testing.T) {
	// By hand: means 2 and 4, variances 1 and 4, n = 3: -2 / sqrt(1/3 + 4/3).
	got, a, b := welch([]timedPair{{1, 2}, {2, 4}, {3, 6}})
	if want := -2 / math.Sqrt(5.0/3); math.Abs(got-want) > 1e-9 || a != 2 || b != 4 {
		t.Errorf("t = %f of means %f and %f, want %f", got, a, b, want)
	}
	for _, none := range [][]timedPair{nil, {{1, 2}}, {{1, 1}, {1, 1}}} {
		if got, _, _ := welch(none); got != 0 {
			t.Errorf("t of %v is %f", none, got)
		}
	}
}

func TestADifferenceIsFoundAmongOutliers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	draw := func(mean float64) float64 {
		if random.IntN(50) == 0 {
			return mean + 5000*random.Float64() // a neighbour
		}
		return mean + 10*random.NormFloat64()
	}
	for name, c := range map[string]struct {
		difference float64
		found      bool
	}{"two times that are the same": {0, false}, "a percent": {1, true}} {
		pairs := make([]timedPair, 20_000)
		for i := range pairs {
			pairs[i] = timedPair{draw(100 + c.difference), draw(100)}
		}
		kept, bound := withoutOutliers(pairs)
		if got, _, _ := welch(kept); (math.Abs(got) >= leak) != c.found {
			t.Errorf("%s: t = %f", name, got)
		}
		if len(kept) < 17_000 || len(kept) >= len(pairs) || bound < 100 || bound > 200 {
			t.Errorf("%s: %d pairs are kept, up to %f", name, len(kept), bound)
		}
	}
}

func TestWithoutOutliersOfNothing(t *testing.T) {
	if kept, bound := withoutOutliers(nil); kept != nil || bound != 0 {
		t.Errorf("%v, %f", kept, bound)
	}
}
