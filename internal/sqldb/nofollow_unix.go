//go:build unix

package sqldb

import "syscall"

// noFollow makes opening a symbolic link an error.
const noFollow = syscall.O_NOFOLLOW
