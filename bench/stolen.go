package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// machineTime is what the processors' time went to since the machine started, in
// ticks: all of it, and the part that the host gave to other machines while this one
// had work to do.
type machineTime struct {
	all, stolen int64
}

func readMachineTime() (machineTime, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return machineTime{}, err
	}
	return parseMachineTime(string(text))
}

// parseMachineTime reads the first line of /proc/stat: user, nice, system, idle,
// iowait, irq, softirq, steal, and times of guests, which the first two hold already.
func parseMachineTime(text string) (machineTime, error) {
	line, _, _ := strings.Cut(text, "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return machineTime{}, fmt.Errorf("/proc/stat begins with %q, which says nothing of the processors' time", line)
	}
	var t machineTime
	for i, field := range fields[1:9] {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return machineTime{}, fmt.Errorf("/proc/stat: %w", err)
		}
		t.all += ticks
		if i == 7 {
			t.stolen = ticks
		}
	}
	return t, nil
}

// stolenSince is the share of the processors' time, 0 to 1, that other machines took
// since before.
func (t machineTime) stolenSince(before machineTime) float64 {
	return float64(t.stolen-before.stolen) / float64(max(1, t.all-before.all))
}
