//go:build linux

package main

import (
	"strings"
	"testing"
	"time"
)

func TestTheTable(t *testing.T) {
	var out strings.Builder
	printTable(&out, []report{{
		title: "a primary killed", outage: 4 * time.Second, back: -time.Second, opened: 10, refusals: []time.Duration{time.Millisecond, time.Second},
		rows: []row{
			{"validations", count{requests: 20, right: 15, unavailable: 5, longest: 1500 * time.Millisecond}},
			{"licenses", count{requests: 9, right: 3, gaveUp: 2, missing: 4}},
		},
		violations: []string{"a", "b", "c", "d", "e", "f", "g"},
	}, {title: "behind a pooler", note: "skipped"}})
	for _, want := range []string{
		"       validations        20     15    5        0        1.5        0      0           0      0   ",
		"          licenses         9      3    0        2        0.0        4      0           0      0  !",
		"no server took connections for 4.0 s; the last validation that failed began 0.0 s after that; 2.5 new connections a second",
		"2, after 1.000 s (median), 1.000 s (longest)",
		"7 violations\n  ! a\n", "  ! e\n  ! and 2 more\n", "behind a pooler: skipped\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
