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

func (p pair) stolenShare() float64 { return p.Stolen }

// disturbed is the stolen share above which a measurement is repeated.
const disturbed = 0.2

// disturbable is a measurement that says what was stolen meanwhile.
type disturbable interface{ stolenShare() float64 }

// repeats are measurements of the same thing. Neighbours that take a machine's
// processors, or empty its caches, spoil one without a fault of any server, so which
// of them count is decided by what was stolen and never by what was measured.
type repeats[T disturbable] struct {
	want, most int
	all        []T
}

// pairs are those of a case.
type pairs = repeats[pair]

// more reports whether another one is to be taken: until as many as are wanted were
// calm, and no more than most.
func (r *repeats[T]) more() bool {
	calm := 0
	for _, one := range r.all {
		if one.stolenShare() <= disturbed {
			calm++
		}
	}
	return calm < r.want && len(r.all) < r.most
}

// calmest parts them into those of the least stolen time, as many as are wanted, and
// the rest.
func (r *repeats[T]) calmest() (counted, leftOut []T) {
	sorted := slices.SortedStableFunc(slices.Values(r.all), func(a, b T) int { return cmp.Compare(a.stolenShare(), b.stolenShare()) })
	n := min(r.want, len(sorted))
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
func middle[T any](all []T, of func(T) float64) float64 {
	values := make([]float64, len(all))
	for i, one := range all {
		values[i] = of(one)
	}
	slices.Sort(values)
	return values[len(values)/2]
}
