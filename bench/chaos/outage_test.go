//go:build linux

package main

import (
	"testing"
	"time"
)

func TestWhichFailedValidationsAnOutageExcuses(t *testing.T) {
	start := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	at := func(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }
	o := outage{at(10), at(20)}
	for name, c := range map[string]struct {
		began, ended float64
		excused      bool
	}{
		"within it":                                 {12, 13, true},
		"ended before it":                           {9, 9.9, false},
		"under way when it began":                   {9, 11, true},
		"held up long before it began":              {7.9, 11, false},
		"begun in it, ended after it":               {19, 24, true},
		"while the store connects again":            {24.9, 25, true},
		"after the store has to be connected again": {25.1, 25.2, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := o.excuses(failure{began: at(c.began), ended: at(c.ended)}); got != c.excused {
				t.Errorf("excused is %t", got)
			}
		})
	}
}

func TestFailuresAreJudgedByOutages(t *testing.T) {
	start := time.Now()
	r := newRecord()
	fail := func(k kind, after time.Duration) {
		r.failures = append(r.failures, failure{kind: k, began: start.Add(after), ended: start.Add(after)})
	}
	fail(newCode, 5*time.Second)
	fail(newCode, 11*time.Second)
	fail(knownCode, 30*time.Second)
	back := r.classify([]outage{{start, start.Add(10 * time.Second)}})
	if back != time.Second || r.counts[newCode].early != 0 || r.counts[knownCode].early != 1 || len(r.violations) != 1 {
		t.Errorf("back after %s, counts %+v, violations %q", back, r.counts, r.violations)
	}
	if r.classify(nil); r.counts[newCode].early != 2 {
		t.Errorf("without an outage nothing is excused: %+v", r.counts[newCode])
	}
}

func TestRefusalsAreThoseOfAnOutage(t *testing.T) {
	start := time.Now()
	r := newRecord()
	for _, after := range []time.Duration{-1, 1, 3, 9, 11} { // seconds
		began := start.Add(after * time.Second)
		r.unavailable = append(r.unavailable, answer{began: began, ended: began.Add(10 * time.Second / (after + 2))})
	}
	got := r.refusals([]outage{{start, start.Add(10 * time.Second)}})
	if len(got) != 2 || got[0] > got[1] || got[1] != 2*time.Second {
		t.Errorf("got %v", got)
	}
}
