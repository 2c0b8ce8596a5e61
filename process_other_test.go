//go:build !unix

package countersign_test

import "os/exec"

// endWithItsChildren returns what ends a command.
func endWithItsChildren(c *exec.Cmd) (stop func()) {
	return func() {
		if c.Process != nil {
			_ = c.Process.Kill()
		}
	}
}
