package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// usage is what a process and all that it started have used.
type usage struct {
	// cpu is processor time, user and system.
	cpu time.Duration
	// anonymous is memory in bytes that they hold themselves, without files that
	// are mapped and without what they share.
	anonymous int64
}

// clockTick is the unit of times in /proc: 100 a second on Linux, everywhere.
const clockTick = 10 * time.Millisecond

// processStat is what a line of /proc/PID/stat says.
type processStat struct {
	pid, parent int
	cpu         time.Duration
}

func (p *process) usage() (usage, error) { return usageOf(p.command.Process.Pid) }

// usageOf is what the process with an id and all that it started have used.
func usageOf(root int) (usage, error) {
	paths, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return usage{}, err
	}
	var all []processStat
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		one, err := parseStat(string(text))
		if err != nil {
			return usage{}, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, one)
	}
	var total usage
	for _, one := range tree(all, root) {
		total.cpu += one.cpu
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", one.pid)) // none: it has ended
		total.anonymous += parseAnonymous(string(status))
	}
	return total, nil
}

// tree picks a process and its descendants.
func tree(all []processStat, root int) []processStat {
	parents := make(map[int]int, len(all))
	for _, one := range all {
		parents[one.pid] = one.parent
	}
	var found []processStat
	for _, one := range all {
		at := one.pid
		for at != root && at != 0 {
			at = parents[at]
		}
		if at == root {
			found = append(found, one)
		}
	}
	return found
}

// parseStat reads a line of /proc/PID/stat.
func parseStat(text string) (processStat, error) {
	// The name in parentheses may hold spaces and parentheses; after it, field 4 is
	// number 1.
	name := strings.LastIndexByte(text, ')')
	fields := strings.Fields(text[name+1:])
	number, _, _ := strings.Cut(text, " ")
	if name < 0 || len(fields) < 13 {
		return processStat{}, fmt.Errorf("not a line of a process: %q", text)
	}
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	parent, err3 := strconv.Atoi(fields[1])
	pid, err4 := strconv.Atoi(number)
	return processStat{pid, parent, time.Duration(user+system) * clockTick}, errors.Join(err1, err2, err3, err4)
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
