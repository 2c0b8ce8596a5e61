//go:build unix

package sqldb

import (
	"errors"
	"os"
	"syscall"
)

// noFollow makes opening a symbolic link an error.
const noFollow = syscall.O_NOFOLLOW

// lockName is the file whose lock is that of another file: the file itself.
func lockName(path string) string { return path }

// replacesOpenFiles reports that a file that is open can be replaced by renaming another one.
const replacesOpenFiles = true

// SyncFolder brings the names in a folder to the disk.
func SyncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
