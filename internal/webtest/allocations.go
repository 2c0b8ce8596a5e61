package webtest

import "testing"

// Allocations returns how many allocations one run of f costs. Every allocation of the
// process is counted, those of background tasks too, so it takes the least of several counts.
func Allocations(f func()) float64 {
	const counts = 20
	least := testing.AllocsPerRun(200, f)
	for range counts - 1 {
		least = min(least, testing.AllocsPerRun(200, f))
	}
	return least
}
