package main

import (
	"slices"
	"testing"
	"time"
)

func TestAStatLineIsRead(t *testing.T) {
	const rest = " 100 100 0 -1 4194560 1 0 0 0 250 130 7 8 20 0 6 0 500 0 0"
	for name, c := range map[string]struct {
		line string
		want processStat
	}{
		"plain":                               {"42 (countersign) S 7" + rest, processStat{42, 7, 3800 * time.Millisecond}},
		"a name with spaces and parentheses":  {"42 (tmux: (x) 1 2) R 7" + rest, processStat{42, 7, 3800 * time.Millisecond}},
		"times of children that ended: no":    {"1 (init) S 0" + rest, processStat{1, 0, 3800 * time.Millisecond}},
		"the newline at the end of the file":  {"42 (a) S 7" + rest + "\n", processStat{42, 7, 3800 * time.Millisecond}},
		"a name that looks like another line": {"42 (9 (b) S 1) S 7" + rest, processStat{42, 7, 3800 * time.Millisecond}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseStat(c.line)
			if err != nil || got != c.want {
				t.Errorf("got %+v, error %v, want %+v", got, err, c.want)
			}
		})
	}
	for name, line := range map[string]string{
		"nothing": "", "no name": "42 S 7" + rest, "cut off": "42 (a) S 7 100", "no numbers": "42 (a) S x" + rest,
	} {
		t.Run(name+" is an error", func(t *testing.T) {
			if got, err := parseStat(line); err == nil {
				t.Errorf("got %+v", got)
			}
		})
	}
}

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
	all := []processStat{{pid: 1}, {pid: 2, parent: 1}, {pid: 3, parent: 2}, {pid: 4, parent: 3}, {pid: 5, parent: 1}, {pid: 6, parent: 99}}
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
				got = append(got, one.pid)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
