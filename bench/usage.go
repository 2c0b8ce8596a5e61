package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign/bench/program"
)

// usage is what a process and all that it started have used.
type usage struct {
	// cpu is processor time, user and system.
	cpu time.Duration
	// anonymous is memory in bytes that they hold themselves, without files that
	// are mapped and without what they share.
	anonymous int64
}

func (p *process) usage() (usage, error) { return usageOf(p.command.Process.Pid) }

// usageOf is what the process with an id and all that it started have used.
func usageOf(root int) (usage, error) {
	all, err := program.Stats()
	if err != nil {
		return usage{}, err
	}
	var total usage
	for _, one := range tree(all, root) {
		total.cpu += one.CPU
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", one.PID)) // none: it has ended
		total.anonymous += parseAnonymous(string(status))
	}
	return total, nil
}

// tree picks a process and its descendants.
func tree(all []program.Stat, root int) []program.Stat {
	parents := make(map[int]int, len(all))
	for _, one := range all {
		parents[one.PID] = one.Parent
	}
	var found []program.Stat
	for _, one := range all {
		at := one.PID
		for at != root && at != 0 {
			at = parents[at]
		}
		if at == root {
			found = append(found, one)
		}
	}
	return found
}

// parseAnonymous reads RssAnon of /proc/PID/status, in bytes; 0 when it is not there.
func parseAnonymous(status string) int64 {
	for line := range strings.Lines(status) {
		if value, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kilobytes, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return kilobytes << 10
		}
	}
	return 0
}
