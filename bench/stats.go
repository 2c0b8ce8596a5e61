package main

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/prometheus/procfs"
)

// machineTime is how many seconds the processors have spent since the machine started:
// all of them, and those that the host gave to other machines while this one had work to
// do.
type machineTime struct{ all, stolen float64 }

func readMachineTime() (machineTime, error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return machineTime{}, err
	}
	stat, err := fs.Stat()
	t := stat.CPUTotal // of guests too, which user and nice include
	return machineTime{t.User + t.Nice + t.System + t.Idle + t.Iowait + t.IRQ + t.SoftIRQ + t.Steal, t.Steal}, err
}

// stolenSince returns the share of the processors' time, 0 to 1, that other machines took
// since before.
func (t machineTime) stolenSince(before machineTime) float64 {
	return (t.stolen - before.stolen) / max(clockTick.Seconds(), t.all-before.all)
}

// measured is a measurement and the share of the processors' time, 0 to 1, that other
// machines on the same host took during it.
type measured[T any] struct {
	Value  T       `json:"value"`
	Stolen float64 `json:"stolen"`
}

// measure takes one measurement.
func measure[T any](take func() (T, error)) (measured[T], error) {
	before, err := readMachineTime()
	if err != nil {
		return measured[T]{}, err
	}
	value, err := take()
	after, noTime := readMachineTime()
	return measured[T]{value, after.stolenSince(before)}, errors.Join(err, noTime)
}

// disturbed is the stolen share above which a measurement is repeated.
const disturbed = 0.2

// repeat measures the same thing until n measurements were not disturbed, at most 2n
// times. The n with the least stolen time count. Only the stolen time decides which
// ones count, never what was measured. take gets the number of the measurement.
func repeat[T any](n int, take func(i int) (T, error)) (counted, leftOut []measured[T], err error) {
	var all []measured[T]
	for needsMore(all, n) {
		one, err := measure(func() (T, error) { return take(len(all)) })
		if err != nil {
			return nil, nil, err
		}
		all = append(all, one)
	}
	counted, leftOut = calmest(all, n)
	return counted, leftOut, nil
}

// needsMore reports whether fewer than n measurements were undisturbed, and fewer than
// 2n were taken.
func needsMore[T any](all []measured[T], n int) bool {
	calm := 0
	for _, one := range all {
		if one.Stolen <= disturbed {
			calm++
		}
	}
	return calm < n && len(all) < 2*n
}

// calmest splits off the n measurements with the least stolen time.
func calmest[T any](all []measured[T], n int) (counted, leftOut []measured[T]) {
	sorted := slices.SortedStableFunc(slices.Values(all), func(a, b measured[T]) int { return cmp.Compare(a.Stolen, b.Stolen) })
	n = min(n, len(sorted))
	return sorted[:n], sorted[n:]
}

// meanStolen is a mean, because a median would hide single disturbed measurements.
func meanStolen[T any](all []measured[T]) float64 {
	sum := 0.0
	for _, one := range all {
		sum += one.Stolen
	}
	return sum / float64(max(1, len(all)))
}

// quantileOf returns a quantile of one number of each measurement.
func quantileOf[T any, N cmp.Ordered](all []measured[T], share float64, number func(T) N) N {
	values := make([]N, len(all))
	for i, one := range all {
		values[i] = number(one.Value)
	}
	slices.Sort(values)
	return quantile(values, share)
}

const median = 0.5

// quantile returns the sorted value that this share of the values is below. Without
// values it returns zero.
func quantile[N cmp.Ordered](sorted []N, share float64) (value N) {
	if n := len(sorted); n > 0 {
		value = sorted[min(n-1, int(share*float64(n)))]
	}
	return value
}

// timedPair holds the times of two requests that were sent one after the other, in seconds.
type timedPair struct{ a, b float64 }

// withoutOutliers omits the pairs with a time above the 95th percentile of all times of
// both kinds: on a shared machine, a few requests of either kind wait for many times
// their own time. The bound is the same for both, so it favours neither.
func withoutOutliers(pairs []timedPair) (kept []timedPair, bound float64) {
	all := make([]float64, 0, 2*len(pairs))
	for _, p := range pairs {
		all = append(all, p.a, p.b)
	}
	slices.Sort(all)
	bound = quantile(all, 0.95)
	for _, p := range pairs {
		if p.a <= bound && p.b <= bound {
			kept = append(kept, p)
		}
	}
	return kept, bound
}

// welch returns Welch's t of two samples, and their means. It is 0 for samples that are
// too small or do not vary.
func welch(pairs []timedPair) (t, meanA, meanB float64) {
	n := float64(len(pairs))
	if n < 2 {
		return 0, 0, 0
	}
	for _, p := range pairs {
		meanA += p.a / n
		meanB += p.b / n
	}
	squares := 0.0
	for _, p := range pairs {
		squares += (p.a-meanA)*(p.a-meanA) + (p.b-meanB)*(p.b-meanB)
	}
	deviation := math.Sqrt(squares / (n - 1) / n)
	if deviation == 0 {
		return 0, meanA, meanB
	}
	return (meanA - meanB) / deviation, meanA, meanB
}
