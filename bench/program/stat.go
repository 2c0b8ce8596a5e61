package program

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ClockTick is the unit of times in /proc: 100 a second on Linux, everywhere.
const ClockTick = 10 * time.Millisecond

// Stat is what a line of /proc/PID/stat says.
type Stat struct {
	// PID is the process's id, and Parent that of its parent.
	PID, Parent int
	// CPU is processor time, user and system.
	CPU time.Duration
}

// Stats lists all processes of the machine.
func Stats() ([]Stat, error) {
	paths, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	var all []Stat
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		one, err := parseStat(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, one)
	}
	return all, nil
}

// parseStat reads a line of /proc/PID/stat.
func parseStat(text string) (Stat, error) {
	// The name in parentheses may hold spaces and parentheses; after it, field 4 is
	// number 1.
	name := strings.LastIndexByte(text, ')')
	fields := strings.Fields(text[name+1:])
	number, _, _ := strings.Cut(text, " ")
	if name < 0 || len(fields) < 13 {
		return Stat{}, fmt.Errorf("not a line of a process: %q", text)
	}
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	parent, err3 := strconv.Atoi(fields[1])
	pid, err4 := strconv.Atoi(number)
	return Stat{pid, parent, time.Duration(user+system) * ClockTick}, errors.Join(err1, err2, err3, err4)
}
