package sqldb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/gofrs/flock"
)

// serveLock is the file in a data folder that its server keeps locked.
const serveLock = "serve.lock"

// lockPatience is how long a look by [ServedAt], or a program that is being started
// and still holds the files of this one, may stand in the way of a lock.
const lockPatience = time.Second

// LockFolder makes this process the only server of a data folder until unlock
// is called or the process ends. owner says who holds it, for the message that
// the next one gets, of kind Conflict; url is where it serves, or empty.
func LockFolder(dir, owner, url string) (unlock func(), err error) {
	path := filepath.Join(dir, serveLock)
	lock := flock.New(path, flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(context.Background(), lockPatience)
	defer cancel()
	_, err = lock.TryLockContext(ctx, lockPatience/50)
	if errors.Is(err, context.DeadlineExceeded) {
		first, _ := readLock(path)
		return nil, &countersign.Error{
			Kind: countersign.KindConflict, Code: "already_running",
			Message: fmt.Sprintf("The data folder %s is served by %s; stop it first, or name another folder with --data", dir, first),
		}
	}
	if err == nil {
		err = os.WriteFile(path, []byte(owner+"\n"+url+"\n"), 0o600)
	}
	if err != nil {
		_ = lock.Close()
		return nil, fmt.Errorf("sqldb: lock the data folder: %w", err)
	}
	return func() { _ = lock.Close() }, nil
}

// ServedAt is the address of the server that runs on a data folder, empty when
// none does.
func ServedAt(dir string) string {
	path := filepath.Join(dir, serveLock)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	lock := flock.New(path, flock.SetPermissions(0o600))
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
