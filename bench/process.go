package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/countersign/countersign/bench/program"
	"github.com/prometheus/procfs"
)

// process is a server under measurement.
type process struct {
	command *exec.Cmd
	address string
	ended   chan error
}

// errNotInstalled is the end of a command that lacks what it needs on this machine
// and has said so.
var errNotInstalled = errors.New("it is not installed")

// notInstalled is the exit code that means errNotInstalled.
const notInstalled = 77

// start runs a command whose first line on stdout names its address. A nil stdin is a pipe
// that ends with this process, and with it the servers that watch it.
func start(ctx context.Context, member string, stdin io.Reader, log *os.File, name string, args ...string) (*process, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.Stdin, c.Stderr = stdin, log
	out, err := c.StdoutPipe()
	if err == nil && stdin == nil {
		_, err = c.StdinPipe()
	}
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return nil, err
	}
	p := &process{command: c, ended: make(chan error, 1)}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		p.address, err = program.Address(member, strings.TrimSpace(line))
	}
	go func() { p.ended <- c.Wait() }()
	if err != nil {
		p.stop()
		if c.ProcessState.ExitCode() == notInstalled {
			err = errNotInstalled
		}
		return nil, fmt.Errorf("%s did not say where it listens: %w", name, err)
	}
	return p, nil
}

func (p *process) stop() {
	_ = p.command.Process.Signal(syscall.SIGTERM)
	<-p.ended
}

// usePostgres puts the URL of a database on the harness's own server into a run
// that wants one. The first one starts the server, with the databases of all; see
// postgres/start.
func (all *session) usePostgres(ctx context.Context, one *settings) error {
	if one.database != ownPostgres {
		return nil
	}
	if all.postgres == nil {
		args := []string{all.settings.out}
		for _, s := range all.settings.runs() {
			if s.database == ownPostgres {
				args = append(args, s.databaseName())
			}
		}
		p, err := start(ctx, "", nil, os.Stderr, "bench/postgres/start", args...)
		if err != nil {
			return fmt.Errorf("PostgreSQL: %w", err)
		}
		all.postgres = p
	}
	u, err := url.Parse(all.postgres.address)
	if err != nil {
		return err
	}
	u.Path = "/" + one.databaseName()
	one.database, one.databaseProcess = u.String(), all.postgres.command.Process.Pid
	return nil
}

// usage is what a process and its descendants have used.
type usage struct {
	// cpu is processor time, user and system.
	cpu time.Duration
	// anonymous is memory in bytes that only they have, without mapped files and
	// without shared memory.
	anonymous int64
}

// clockTick is the unit of processor times in /proc: 100 a second on Linux, everywhere.
const clockTick = 10 * time.Millisecond

// usageOf returns the usage of the process with an id.
func usageOf(root int) (usage, error) {
	all, err := program.Processes()
	if err != nil {
		return usage{}, err
	}
	var total usage
	for _, one := range tree(all, root) {
		total.cpu += time.Duration(one.UTime+one.STime) * clockTick
		if p, err := procfs.NewProc(one.PID); err == nil { // else it has ended
			status, _ := p.NewStatus()
			total.anonymous += int64(status.RssAnon)
		}
	}
	return total, nil
}

// tree selects a process and its descendants.
func tree(all []procfs.ProcStat, root int) (found []procfs.ProcStat) {
	parents := make(map[int]int, len(all))
	for _, one := range all {
		parents[one.PID] = one.PPID
	}
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
