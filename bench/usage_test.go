package main

import (
	"slices"
	"testing"

	"github.com/countersign/countersign/bench/program"
)

func TestAnonymousMemoryIsRead(t *testing.T) {
	for name, c := range map[string]struct {
		status string
		want   int64
	}{
		"in kilobytes":            {"Name:\ta\nVmRSS:\t   99 kB\nRssAnon:\t    2048 kB\nRssFile:\t 5 kB\n", 2 << 20},
		"a process that ended":    {"", 0},
		"a process of the kernel": {"Name:\tkthreadd\nThreads:\t1\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := parseAnonymous(c.status); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestATreeIsAProcessAndItsDescendants(t *testing.T) {
	all := []program.Stat{{PID: 1}, {PID: 2, Parent: 1}, {PID: 3, Parent: 2}, {PID: 4, Parent: 3}, {PID: 5, Parent: 1}, {PID: 6, Parent: 99}}
	for name, c := range map[string]struct {
		root int
		want []int
	}{
		"with children and theirs":       {2, []int{2, 3, 4}},
		"alone":                          {5, []int{5}},
		"children of one that has ended": {99, []int{6}},
		"the first process has them all": {1, []int{1, 2, 3, 4, 5}},
		"nobody's parent, and not there": {77, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []int
			for _, one := range tree(all, c.root) {
				got = append(got, one.PID)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
