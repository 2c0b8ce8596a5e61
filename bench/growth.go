package main

import (
	"fmt"
	"io"
)

// growth is what 10,000,000 purchases cost against 10,000: the case that looks
// every code up, in processor time per request.
type growth struct {
	Engine string `json:"engine"`
	// OverFloor is the ratio of the ratios, each to the floor of its own run.
	OverFloor grown `json:"over_floor"`
	// Plain is the ratio of the times themselves, from two runs.
	Plain grown `json:"plain"`
}

type grown struct {
	Ratio float64 `json:"ratio"`
	bounded
}

// growthOf compares the runs of each engine with default flags.
func growthOf(results []result) []growth {
	var all []growth
	for _, engine := range []string{"sqlite", "postgres"} {
		few, ok1 := coldCase(results, engine, 10_000)
		many, ok2 := coldCase(results, engine, 10_000_000)
		if !ok1 || !ok2 {
			continue
		}
		atMost := 0.0
		if engine == "sqlite" {
			atMost = growthBound
		}
		over, plain := many.Ratio/few.Ratio, float64(many.Store.CPU)/float64(few.Store.CPU)
		all = append(all, growth{engine, grown{over, boundedBy(over, atMost)}, grown{plain, boundedBy(plain, atMost)}})
	}
	return all
}

func coldCase(results []result, engine string, purchases int) (comparison, bool) {
	for _, r := range results {
		if r.Engine != engine || r.Purchases != purchases || r.Flags != "" {
			continue
		}
		for _, c := range r.Cases {
			if c.Name == caseCold {
				return c, true
			}
		}
	}
	return comparison{}, false
}

func printGrowth(out io.Writer, g growth) {
	fmt.Fprintf(out, "\n%s, %s, 10,000,000 purchases against 10,000: %.2f times over the floor%s, %.2f times plain%s\n",
		g.Engine, caseCold, g.OverFloor.Ratio, g.OverFloor.aside(), g.Plain.Ratio, g.Plain.aside())
}
