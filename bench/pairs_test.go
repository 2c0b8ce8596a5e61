package main

import (
	"slices"
	"testing"
	"time"
)

// stolen makes pairs of these shares; the ratio tells their place.
func stolen(shares ...float64) []pair {
	var all []pair
	for i, share := range shares {
		all = append(all, pair{Ratio: float64(i), Stolen: share})
	}
	return all
}

func TestHowManyPairsAreTaken(t *testing.T) {
	for name, c := range map[string]struct {
		taken []pair
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
			p := pairs{want: 3, most: 6, all: c.taken}
			if p.more() != c.more {
				t.Errorf("more is %t", !c.more)
			}
		})
	}
}

func TestTheCalmestPairsCount(t *testing.T) {
	for name, c := range map[string]struct {
		taken            []pair
		counted, leftOut []float64 // their places
	}{
		"all when there are no more":             {stolen(0.9, 0.1, 0.5), []float64{1, 2, 0}, nil},
		"the least stolen of more":               {stolen(0.9, 0.1, 0.5, 0.4), []float64{1, 3, 2}, []float64{0}},
		"of equal ones those taken first":        {stolen(0.5, 0.5, 0.5, 0.5), []float64{0, 1, 2}, []float64{3}},
		"whatever their ratios are, high or low": {stolen(0, 0.3, 0, 0.3, 0), []float64{0, 2, 4}, []float64{1, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			p := pairs{want: 3, most: 6, all: c.taken}
			counted, leftOut := p.calmest()
			places := func(all []pair) (out []float64) {
				for _, one := range all {
					out = append(out, one.Ratio)
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
		all[i].store = figures{CPU: cpu, Anonymous: int64(100 - cpu)}
	}
	got := median(all, func(p pair) figures { return p.store })
	if got.CPU != 30 || got.Anonymous != 70 {
		t.Errorf("medians %+v", got)
	}
	if got := middle(all[:2], func(p pair) float64 { return p.Ratio }); got != 1 {
		t.Errorf("of two the larger; got %v", got)
	}
	if got := meanStolen(all); got < 0.29 || got > 0.31 {
		t.Errorf("mean %v", got)
	}
}
