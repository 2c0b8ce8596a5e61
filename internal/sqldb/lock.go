package sqldb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/gofrs/flock"
)

// serveLock is the file in a data folder that its server keeps locked. It names the
// server. A clean stop empties it, so that one with content, and without a lock, was
// left by a server that did not stop cleanly.
const serveLock = "serve.lock"

// lockTimeout is how long a look by [ServedAt], or a program that is being started
// and still holds the files of this one, may stand in the way of a lock.
const lockTimeout = time.Second

// FolderLock is a lock on a data folder. Its methods do nothing on nil.
type FolderLock struct {
	path string
	lock *flock.Flock
	file *os.File // the locked file, without the lock
	// leftOver reports that the server before did not stop cleanly.
	leftOver bool
}

// LockFolder makes this process the only server of a data folder until
// [FolderLock.Unlock] is called or the process ends. owner names this process and url
// its address, for the error message of the next one (kind Conflict); url may be empty.
// A symbolic link in place of the lock file is a conflict too.
func LockFolder(dir, owner, url string) (*FolderLock, error) {
	path := filepath.Join(dir, serveLock)
	l := &FolderLock{path: path, lock: flock.New(lockName(path), flock.SetFlag(os.O_CREATE|os.O_RDWR|noFollow), flock.SetPermissions(0o600))}
	ctx, cancel := context.WithTimeout(context.Background(), lockTimeout)
	defer cancel()
	_, err := l.lock.TryLockContext(ctx, lockTimeout/50)
	if errors.Is(err, context.DeadlineExceeded) {
		first, _ := readLock(path)
		return nil, fault.Conflict("already_running", fmt.Sprintf("The data folder %s is served by %s", dir, first))
	}
	if err == nil {
		err = l.take(owner, url)
	}
	if err != nil {
		l.Unlock()
		return nil, lockError(path, err)
	}
	return l, nil
}

// lockError is what a lock file that can't be used means to the operator.
func lockError(path string, err error) error {
	if info, statErr := os.Lstat(path); statErr == nil && !info.Mode().IsRegular() {
		return fault.Conflict("lock_not_a_file", fmt.Sprintf("The lock file %s is not a regular file; remove it, once you know who put it there", path))
	}
	return fmt.Errorf("sqldb: lock the data folder: %w", err)
}

var errNotAFile = errors.New("sqldb: not a regular file")

// take writes the owner into the locked file. It is on the disk before anything is
// written to the database: after a power failure it says that the stop was unclean.
func (l *FolderLock) take(owner, url string) (err error) {
	if l.file, err = os.OpenFile(l.path, os.O_CREATE|os.O_RDWR|noFollow, 0o600); err != nil {
		return err
	}
	if info, err := l.file.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, errNotAFile) // reading from a pipe would not end
	}
	before, err := io.ReadAll(l.file)
	if err != nil {
		return err
	}
	l.leftOver = len(before) > 0
	if err := l.verify(); err != nil {
		return err
	}
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err = l.file.WriteAt([]byte(owner+"\n"+url+"\n"), 0)
	return errors.Join(err, l.file.Sync())
}

// Unlock lets another server take the folder.
func (l *FolderLock) Unlock() {
	if l == nil {
		return
	}
	if l.file != nil {
		_ = l.file.Close()
	}
	_ = l.lock.Close()
}

// verify returns an error when the lock file is not the one that is locked.
func (l *FolderLock) verify() error {
	if l == nil {
		return nil
	}
	locked, err := l.lock.Stat()
	if err != nil {
		return err
	}
	now, err := os.Lstat(lockName(l.path))
	if err == nil && !os.SameFile(locked, now) {
		err = &fs.PathError{Op: "stat", Path: l.path, Err: errReplaced}
	}
	return err
}

// unclean reports whether the server before did not stop cleanly.
func (l *FolderLock) unclean() bool { return l != nil && l.leftOver }

// markClean notes a clean stop.
func (l *FolderLock) markClean() error {
	if l == nil {
		return nil
	}
	return l.file.Truncate(0)
}

// ServedAt is the address of the server that runs on a data folder, empty when
// none does.
func ServedAt(dir string) string {
	path := filepath.Join(dir, serveLock)
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	lock := flock.New(lockName(path), flock.SetFlag(os.O_CREATE|os.O_RDONLY|noFollow), flock.SetPermissions(0o600))
	free, err := lock.TryRLock()
	_ = lock.Close()
	if free || err != nil {
		return ""
	}
	_, url := readLock(path)
	return url
}

// readLock reads who holds the lock, and where that serves.
func readLock(path string) (owner, url string) {
	text, _ := os.ReadFile(path) // who can't be read is not named
	owner, url, _ = strings.Cut(string(text), "\n")
	return owner, strings.TrimSpace(url)
}
