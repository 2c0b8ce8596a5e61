package main

import (
	"math"
	"slices"
)

// timedPair is what two requests took that were sent one after the other, in seconds.
type timedPair struct{ a, b float64 }

// keptShare is the part of all times that counts: a machine that others use lets a few
// requests of either kind wait for many times their own time.
const keptShare = 0.95

// withoutOutliers leaves out the pairs of which one time is above the 95th percentile of
// all times of both kinds. The bound is the same for both, so it favours neither.
func withoutOutliers(pairs []timedPair) (kept []timedPair, bound float64) {
	all := make([]float64, 0, 2*len(pairs))
	for _, p := range pairs {
		all = append(all, p.a, p.b)
	}
	slices.Sort(all)
	if len(all) == 0 {
		return nil, 0
	}
	bound = all[min(len(all)-1, int(keptShare*float64(len(all))))]
	for _, p := range pairs {
		if p.a <= bound && p.b <= bound {
			kept = append(kept, p)
		}
	}
	return kept, bound
}

// welch is Welch's t of two samples, and their means. It is 0 for samples that are too
// small or do not vary.
func welch(pairs []timedPair) (t, meanA, meanB float64) {
	n := float64(len(pairs))
	if n < 2 {
		return 0, 0, 0
	}
	for _, p := range pairs {
		meanA += p.a / n
		meanB += p.b / n
	}
	var squaresA, squaresB float64
	for _, p := range pairs {
		squaresA += (p.a - meanA) * (p.a - meanA)
		squaresB += (p.b - meanB) * (p.b - meanB)
	}
	deviation := math.Sqrt((squaresA + squaresB) / (n - 1) / n)
	if deviation == 0 {
		return 0, meanA, meanB
	}
	return (meanA - meanB) / deviation, meanA, meanB
}
