package sqldb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// commitFileWait is how long another process may hold the commit file.
const commitFileWait = time.Second

// readCommits reads the number in a commit file, 0 when there is none.
func readCommits(path string) (int64, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return 0, fmt.Errorf("sqldb: %s is not a regular file", path) // reading from a pipe would not end
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || (err == nil && len(text) == 0) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	number, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || number < 0 {
		return 0, fmt.Errorf("sqldb: %s holds something other than a number of commits", path)
	}
	return number, nil
}

// raiseCommits brings the number in a commit file up to one, and leaves a higher one
// alone, which another process wrote. The number is written in place, always with the
// same length: it is in one sector of the disk, old or new.
func raiseCommits(path string, number int64) error {
	_, err := os.Lstat(path)
	isNew := errors.Is(err, fs.ErrNotExist)
	lock := flock.New(lockName(path), flock.SetFlag(os.O_CREATE|os.O_RDWR|noFollow), flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(context.Background(), commitFileWait)
	defer cancel()
	if _, err := lock.TryLockContext(ctx, commitFileWait/100); err != nil {
		return err
	}
	defer lock.Close()
	if before, err := readCommits(path); err == nil && before >= number {
		return nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|noFollow, 0o600)
	if err != nil {
		return err
	}
	n, err := fmt.Fprintf(f, "%020d\n", number)
	if err == nil {
		err = f.Truncate(int64(n)) // something other than a number may have been longer
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil && isNew {
		err = SyncFolder(filepath.Dir(path))
	}
	return err
}
