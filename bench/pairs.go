package main

import (
	"cmp"
	"slices"
	"time"
)

// figures are what a server came to in a turn, or the medians of several.
type figures struct {
	PerSecond float64       `json:"requests_per_second"`
	P50       time.Duration `json:"p50_ns"`
	P99       time.Duration `json:"p99_ns"`
	// CPU is processor time per request.
	CPU       time.Duration `json:"cpu_per_request_ns"`
	Anonymous int64         `json:"rss_anon_bytes"`
	// Body is the mean size of an answer's body, in bytes.
	Body int64 `json:"body_bytes"`
}

// pair is what one turn of each server came to.
type pair struct {
	Ratio float64 `json:"ratio"`
	// Stolen is the share of the processors' time, 0 to 1, that other machines on the
	// same host took meanwhile.
	Stolen float64 `json:"stolen"`

	store, other figures
}

// disturbed is the stolen share above which a pair is taken anew.
const disturbed = 0.2

// pairs are those of a case. Neighbours that take a machine's processors between two
// turns, or empty its caches, spoil a ratio without a fault of either server, so
// which pairs count is decided by what was stolen and never by the ratio.
type pairs struct {
	want, most int
	all        []pair
}

// more tells whether another pair is to be taken: until as many as are wanted were
// calm, and no more than most.
func (p *pairs) more() bool {
	calm := 0
	for _, one := range p.all {
		if one.Stolen <= disturbed {
			calm++
		}
	}
	return calm < p.want && len(p.all) < p.most
}

// calmest parts the pairs into those of the least stolen time, as many as are wanted,
// and the rest.
func (p *pairs) calmest() (counted, leftOut []pair) {
	sorted := slices.SortedStableFunc(slices.Values(p.all), func(a, b pair) int { return cmp.Compare(a.Stolen, b.Stolen) })
	n := min(p.want, len(sorted))
	return sorted[:n], sorted[n:]
}

// meanStolen is the mean over pairs: what was stolen is not to hide behind a median.
func meanStolen(all []pair) float64 {
	sum := 0.0
	for _, p := range all {
		sum += p.Stolen
	}
	return sum / float64(max(1, len(all)))
}

// median takes the median of each figure by itself.
func median(all []pair, of func(pair) figures) figures {
	one := func(number func(figures) float64) float64 {
		return middle(all, func(p pair) float64 { return number(of(p)) })
	}
	return figures{
		PerSecond: one(func(f figures) float64 { return f.PerSecond }),
		P50:       time.Duration(one(func(f figures) float64 { return float64(f.P50) })),
		P99:       time.Duration(one(func(f figures) float64 { return float64(f.P99) })),
		CPU:       time.Duration(one(func(f figures) float64 { return float64(f.CPU) })),
		Anonymous: int64(one(func(f figures) float64 { return float64(f.Anonymous) })),
		Body:      int64(one(func(f figures) float64 { return float64(f.Body) })),
	}
}

// middle is the median of one number of each pair, of two in the middle the larger.
func middle(all []pair, of func(pair) float64) float64 {
	values := make([]float64, len(all))
	for i, one := range all {
		values[i] = of(one)
	}
	slices.Sort(values)
	return values[len(values)/2]
}
