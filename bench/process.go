package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a server under measurement.
type process struct {
	command *exec.Cmd
	address string
	ended   chan error
}

// start runs a command whose first line on stdout is read by address.
func start(ctx context.Context, address func(line string) (string, error), stdin io.Reader, log *os.File, name string, args ...string) (*process, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.Stdin, c.Stderr = stdin, log
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	p := &process{command: c, ended: make(chan error, 1)}
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	if err == nil {
		p.address, err = address(strings.TrimSpace(line))
	}
	go func() { p.ended <- c.Wait() }()
	if err != nil {
		p.stop()
		return nil, fmt.Errorf("%s did not say where it listens: %w", name, err)
	}
	return p, nil
}

func (p *process) stop() {
	_ = p.command.Process.Signal(syscall.SIGTERM)
	<-p.ended
}

// clockTick is the unit of times in /proc: 100 a second on Linux, everywhere.
const clockTick = 10 * time.Millisecond

// cpu is the processor time, user and system, that the process and what it
// started have used.
func (p *process) cpu() (time.Duration, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	times, parents := map[int]time.Duration{}, map[int]int{}
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		pid, parent, used, err := parseStat(string(text))
		if err != nil {
			return 0, err
		}
		times[pid], parents[pid] = used, parent
	}
	var total time.Duration
	for pid, used := range times {
		for at := pid; at != 0; at = parents[at] {
			if at == p.command.Process.Pid {
				total += used
				break
			}
		}
	}
	return total, nil
}

// parseStat reads a line of /proc/PID/stat.
func parseStat(text string) (pid, parent int, used time.Duration, err error) {
	// The name in parentheses may hold spaces; after it, field 4 is number 1.
	name := strings.LastIndexByte(text, ')')
	fields := strings.Fields(text[name+1:])
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	parent, err3 := strconv.Atoi(fields[1])
	pid, err4 := strconv.Atoi(strings.Fields(text)[0])
	return pid, parent, time.Duration(user+system) * clockTick, errors.Join(err1, err2, err3, err4)
}

// anonymous is the process's anonymous memory in bytes: what it holds itself,
// without files that are mapped.
func (p *process) anonymous() int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kilobytes, _ := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
			return kilobytes << 10
		}
	}
	return 0
}
