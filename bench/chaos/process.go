//go:build linux

package main

import (
	"errors"
	"os/exec"
	"syscall"
	"time"

	"github.com/countersign/countersign/bench/program"
)

// process is a program that runs until the harness ends it.
type process struct {
	command *exec.Cmd
	ended   chan struct{} // closed when it has ended
}

// startProcess starts a program that an interrupt from the keyboard does not reach
// before the harness ends it, and that a sudden end of the harness ends.
func startProcess(c *exec.Cmd, atEnd syscall.Signal) (*process, error) {
	if c.SysProcAttr == nil {
		c.SysProcAttr = new(syscall.SysProcAttr)
	}
	c.SysProcAttr.Setpgid = true
	c.SysProcAttr.Pdeathsig = atEnd
	if err := c.Start(); err != nil {
		return nil, err
	}
	p := &process{command: c, ended: make(chan struct{})}
	go func() {
		_ = c.Wait() // the exit code is in ProcessState
		close(p.ended)
	}()
	return p, nil
}

func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// signal sends a signal to the process alone.
func (p *process) signal(s syscall.Signal) {
	_ = p.command.Process.Signal(s) // it may have ended
}

// signalAll sends a signal to the process and its children. Its children can't become
// more meanwhile: it is stopped first.
func (p *process) signalAll(s syscall.Signal) error {
	if !p.running() {
		return nil
	}
	p.signal(syscall.SIGSTOP)
	children, err := childrenOf(p.command.Process.Pid)
	for _, child := range children {
		if sent := syscall.Kill(child, s); sent != nil && !errors.Is(sent, syscall.ESRCH) {
			err = errors.Join(err, sent)
		}
	}
	p.signal(s)
	return err
}

// end asks the process to end by a signal, and kills it and its children when it has
// not after a while.
func (p *process) end(s syscall.Signal, after time.Duration) {
	p.signal(s)
	select {
	case <-p.ended:
	case <-time.After(after):
		_ = p.signalAll(syscall.SIGKILL) // nothing more can be done
		<-p.ended
	}
}

// childrenOf lists the ids of a process's children.
func childrenOf(parent int) (children []int, err error) {
	all, err := program.Processes()
	for _, one := range all {
		if one.PPID == parent {
			children = append(children, one.PID)
		}
	}
	return children, err
}
