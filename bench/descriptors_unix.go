//go:build unix

package main

import (
	"fmt"
	"syscall"
)

// enoughDescriptors is an error when this process may not open as many connections as the crowd has. The runtime has
// raised the limit as far as it may, here and in the server.
func enoughDescriptors() error {
	const needed = hostileConnections + 300
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return err
	}
	if uint64(l.Cur) < needed {
		return fmt.Errorf("this takes %d descriptors and the process may have %d; raise the hard limit, as with: ulimit -Hn %d", needed, l.Cur, needed)
	}
	return nil
}
