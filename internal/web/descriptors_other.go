//go:build !unix

package web

import "math"

// descriptorLimit is how many files and sockets the process may have open, where nothing limits them.
func descriptorLimit() int { return math.MaxInt32 }
