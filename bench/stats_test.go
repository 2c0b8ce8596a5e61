package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// stolen makes pairs of these shares; the ratio is their place.
func stolen(shares ...float64) []measured[pair] {
	var all []measured[pair]
	for i, share := range shares {
		all = append(all, measured[pair]{pair{Ratio: float64(i)}, share})
	}
	return all
}

func TestHowManyPairsAreTaken(t *testing.T) {
	for name, c := range map[string]struct {
		taken []measured[pair]
		more  bool
	}{
		"none yet":                            {nil, true},
		"too few":                             {stolen(0, 0), true},
		"enough calm ones":                    {stolen(0, 0, 0), false},
		"a fifth stolen is still calm":        {stolen(0, 0.2, 0), false},
		"more than a fifth is not":            {stolen(0, 0.21, 0), true},
		"enough calm ones among others":       {stolen(0, 0.9, 0, 0.9, 0), false},
		"the most, though they were not calm": {stolen(0.9, 0.9, 0.9, 0.9, 0.9, 0.9), false},
	} {
		t.Run(name, func(t *testing.T) {
			if needsMore(c.taken, 3) != c.more {
				t.Errorf("more is %t", !c.more)
			}
		})
	}
}

func TestTheCalmestPairsCount(t *testing.T) {
	for name, c := range map[string]struct {
		taken            []measured[pair]
		counted, leftOut []float64 // their places
	}{
		"all when there are no more":             {stolen(0.9, 0.1, 0.5), []float64{1, 2, 0}, nil},
		"the least stolen of more":               {stolen(0.9, 0.1, 0.5, 0.4), []float64{1, 3, 2}, []float64{0}},
		"of equal ones those taken first":        {stolen(0.5, 0.5, 0.5, 0.5), []float64{0, 1, 2}, []float64{3}},
		"whatever their ratios are, high or low": {stolen(0, 0.3, 0, 0.3, 0), []float64{0, 2, 4}, []float64{1, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			counted, leftOut := calmest(c.taken, 3)
			places := func(all []measured[pair]) (out []float64) {
				for _, one := range all {
					out = append(out, one.Value.Ratio)
				}
				return out
			}
			if !slices.Equal(places(counted), c.counted) || !slices.Equal(places(leftOut), c.leftOut) {
				t.Errorf("counted %v, left out %v", places(counted), places(leftOut))
			}
		})
	}
}

func TestMedianAndMean(t *testing.T) {
	all := stolen(0.3, 0, 0.6)
	for i, cpu := range []time.Duration{30, 10, 50} {
		all[i].Value.store = figures{CPU: cpu, Anonymous: int64(100 - cpu)}
	}
	got := medians(all, func(p pair) figures { return p.store })
	if got.CPU != 30 || got.Anonymous != 70 {
		t.Errorf("medians %+v", got)
	}
	if got := quantileOf(all[:2], median, func(p pair) float64 { return p.Ratio }); got != 1 {
		t.Errorf("of two the larger; got %v", got)
	}
	if got := meanStolen(all); got < 0.29 || got > 0.31 {
		t.Errorf("mean %v", got)
	}
}

func TestLowerQuartile(t *testing.T) {
	ordered := make([]float64, 31)
	for i := range ordered {
		ordered[30-i] = float64(i + 1) // 31, 30, ... 1
	}
	for name, c := range map[string]struct {
		ratios []float64
		want   float64
	}{
		"of one it is that one":                   {[]float64{1.5}, 1.5},
		"of four the second":                      {[]float64{4, 2, 1, 3}, 2},
		"of five the second":                      {[]float64{5, 4, 2, 1, 3}, 2},
		"of 31 the eighth":                        {ordered, 8},
		"most pairs being slower does not hide":   {[]float64{1.1, 1.1, 1.1, 1, 1.1}, 1.1},
		"a few disturbed pairs do not make it so": {[]float64{1, 9, 1, 9, 1}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			all := stolen(make([]float64, len(c.ratios))...)
			for i, ratio := range c.ratios {
				all[i].Value.Ratio = ratio
			}
			if got := quantileOf(all, 0.25, func(p pair) float64 { return p.Ratio }); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
			if all[0].Value.Ratio != c.ratios[0] {
				t.Error("the pairs were sorted in place")
			}
		})
	}
}

func TestTheStolenShareIsOfAllTimeBetweenTwoReadings(t *testing.T) {
	before := machineTime{all: 1000, stolen: 100}
	for name, c := range map[string]struct {
		after machineTime
		want  float64
	}{
		"none":                         {machineTime{1200, 100}, 0},
		"a quarter":                    {machineTime{1200, 150}, 0.25},
		"all of it":                    {machineTime{1200, 300}, 1},
		"no tick between the readings": {machineTime{1000, 100}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.after.stolenSince(before); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

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
