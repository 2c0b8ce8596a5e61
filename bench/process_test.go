package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/procfs"
)

func TestAServerSaysWhereItListens(t *testing.T) {
	for name, c := range map[string]struct {
		script, member, address, err string
		notInstalled                 bool
	}{
		"its first line is its address":              {script: "echo http://127.0.0.1:1; exec sleep 60", address: "http://127.0.0.1:1"},
		"its first line may be JSON":                 {script: `echo '{"store_url":"http://127.0.0.1:1"}'; exec sleep 60`, member: "store_url", address: "http://127.0.0.1:1"},
		"one that says nothing is an error":          {script: "exit 1", err: "did not say where it listens"},
		"77 means that it is not on this machine":    {script: "exit 77", err: "it is not installed", notInstalled: true},
		"an address that can't be read is an error":  {script: "echo wrong; exec sleep 60", member: "store_url", err: "invalid character"},
		"one that ends at once has an address first": {script: "echo http://127.0.0.1:1", address: "http://127.0.0.1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := start(context.Background(), c.member, nil, os.Stderr, "sh", "-c", c.script)
			if err != nil {
				if c.err == "" || !strings.Contains(err.Error(), c.err) || errors.Is(err, errNotInstalled) != c.notInstalled {
					t.Errorf("error %v", err)
				}
				return
			}
			defer p.stop()
			if c.err != "" || p.address != c.address {
				t.Errorf("address %q, want %q, error %q", p.address, c.address, c.err)
			}
		})
	}
}

func TestAProcessUsesMemory(t *testing.T) {
	if used, err := usageOf(os.Getpid()); err != nil || used.anonymous < 1<<20 {
		t.Errorf("%+v, error %v", used, err)
	}
	if none, err := usageOf(-1); err != nil || none != (usage{}) {
		t.Errorf("a process that ended: %+v, error %v", none, err)
	}
}

func TestATreeIsAProcessAndItsDescendants(t *testing.T) {
	all := []procfs.ProcStat{{PID: 1}, {PID: 2, PPID: 1}, {PID: 3, PPID: 2}, {PID: 4, PPID: 3}, {PID: 5, PPID: 1}, {PID: 6, PPID: 99}}
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
