//go:build unix

package web

import (
	"math"
	"syscall"
)

// descriptorLimit is how many files and sockets the process may have open. The runtime has raised it as far as it may.
func descriptorLimit() int {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil {
		return math.MaxInt32
	}
	return int(min(uint64(l.Cur), math.MaxInt32)) // some systems count in signed numbers
}
