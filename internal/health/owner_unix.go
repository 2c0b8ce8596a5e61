//go:build unix

package health

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Owner returns the numbers of the user and the group of a file.
func Owner(info os.FileInfo) (uid, gid int, known bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(s.Uid), int(s.Gid), true
}

// Names returns how many names a file has; a folder has one.
func Names(info os.FileInfo) int {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok || info.IsDir() {
		return 1
	}
	return int(s.Nlink)
}

// access is an error unless this process can write a file, or create files in a folder. It opens nothing: to close a
// database drops its locks.
func access(path string, isFolder bool) error {
	if isFolder {
		return unix.Access(path, unix.W_OK|unix.X_OK)
	}
	return unix.Access(path, unix.W_OK)
}
