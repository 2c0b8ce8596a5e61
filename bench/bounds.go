package main

import (
	"time"
)

// bounded is what a figure may be at most, where something is promised, and
// whether it misses that.
type bounded struct {
	AtMost float64 `json:"at_most,omitempty"`
	Missed bool    `json:"missed,omitempty"`
}

// boundedBy holds a value to its bound; 0 is none.
func boundedBy(value, atMost float64) bounded {
	return bounded{AtMost: atMost, Missed: atMost > 0 && value > atMost}
}

// mark shows what misses its bound.
func (b bounded) mark() string {
	if b.Missed {
		return "!"
	}
	return ""
}

// bounds are the ratios to the floor that the store promises with default flags,
// by case, engine ("" is both) and number of purchases (0 is any).
var bounds = []struct {
	name, engine string
	purchases    int
	ratio        float64
}{
	{caseWarm, "", 1_000_000, 1.15},
	{caseCold, "sqlite", 1_000_000, 1.4},
	{caseBadKeys, "", 0, 1.15},
	{caseInvalid, "sqlite", 0, 1.4},
	{caseMixed, "sqlite", 0, 1.5},
	{"items/all, 10000 items, 304", "", 0, 1.15},
	{"items/all, 10000 items", "", 0, 2},
	{"app/settings of the addon", "", 0, 1.3},
}

// peerBounds are the ratios to the servers of another make.
var peerBounds = map[string]float64{"pocketbase": 1.0 / 10, "php": 1.0 / 7}

const (
	growthBound = 1.35 // 10,000,000 purchases to 10,000
	startBound  = 300 * time.Millisecond
	memoryBound = 150 * megabyte
	logBound    = 64 * megabyte
)

const megabyte = 1_000_000

// bound is what a case's ratio may be at most in this run, 0 without a promise.
func (r result) bound(name string) float64 {
	if r.Baseline != "" {
		return baselineBound
	}
	if r.Flags != "" {
		return 0
	}
	if peer := r.peer(); peer != "" {
		return peerBounds[peer]
	}
	for _, b := range bounds {
		if b.name == name && (b.engine == "" || b.engine == r.Engine) && (b.purchases == 0 || b.purchases == r.Purchases) {
			return b.ratio
		}
	}
	return 0
}

// figure is one number of a whole run, beside its bound.
type figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	bounded
}

// figures are the start, the most memory of all cases with the default cache, and
// the largest write-ahead log of the mixed case for a minute.
func (r result) figures() []figure {
	var memory, log int64
	for _, c := range r.Cases {
		if c.Name != caseCold {
			memory = max(memory, c.Store.Anonymous)
		}
		if c.Name == caseMinute {
			log = c.Log
		}
	}
	promised := func(when bool, bound float64) float64 {
		if when && r.Flags == "" {
			return bound
		}
		return 0
	}
	made := func(name, unit string, value, atMost float64) figure {
		return figure{name, value, unit, boundedBy(value, atMost)}
	}
	start := float64(r.Start) / float64(time.Millisecond)
	all := []figure{made("start of the process to the first right answer", "ms", start, promised(r.Purchases == 10_000_000, float64(startBound.Milliseconds())))}
	if memory > 0 {
		all = append(all, made("largest RssAnon of the store", "MB", float64(memory)/megabyte, promised(r.Purchases == 1_000_000, memoryBound/megabyte)))
	}
	if log > 0 {
		all = append(all, made("largest write-ahead log in a minute of the mixed case", "MB", float64(log)/megabyte, promised(true, logBound/megabyte)))
	}
	return all
}
