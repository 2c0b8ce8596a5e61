package sqldb

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/countersign/countersign"
	"github.com/gofrs/flock"
)

// serveLock is the file in a data folder that its server keeps locked.
const serveLock = "serve.lock"

// LockFolder makes this process the only server of a data folder until unlock
// is called or the process ends. owner says who holds it, for the message that
// the next one gets, of kind Conflict.
func LockFolder(dir, owner string) (unlock func(), err error) {
	path := filepath.Join(dir, serveLock)
	lock := flock.New(path, flock.SetPermissions(0o600))
	held, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("sqldb: lock the data folder: %w", err)
	}
	if !held {
		first, _ := os.ReadFile(path)
		return nil, &countersign.Error{
			Kind: countersign.KindConflict, Code: "already_running",
			Message: fmt.Sprintf("The data folder %s is served by %s; stop it first, or name another folder with --data", dir, strings.TrimSpace(string(first))),
		}
	}
	if err := os.WriteFile(path, []byte(owner+"\n"), 0o600); err != nil {
		_ = lock.Close()
		return nil, fmt.Errorf("sqldb: lock the data folder: %w", err)
	}
	return func() { _ = lock.Close() }, nil
}
