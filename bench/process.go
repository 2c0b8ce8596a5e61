package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
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

// printed takes the line that a server prints for its address.
func printed(line string) (string, error) { return line, nil }

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
	line, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		p.address, err = address(strings.TrimSpace(line))
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
