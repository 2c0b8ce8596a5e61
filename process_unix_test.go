//go:build unix

package countersign_test

import (
	"os/exec"
	"syscall"
)

// endWithItsChildren makes a command the head of a group of processes ("go run"
// starts another one) and returns what ends the group.
func endWithItsChildren(c *exec.Cmd) (stop func()) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return func() {
		if c.Process != nil {
			_ = syscall.Kill(-c.Process.Pid, syscall.SIGINT)
		}
	}
}
