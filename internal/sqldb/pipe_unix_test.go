//go:build unix

package sqldb

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign/countersign/internal/must"
)

// Reading from a pipe waits for somebody who writes, also past a SIGTERM.
func TestAPipeInAFilesPlaceIsRefused(t *testing.T) {
	dir := t.TempDir()
	commits := filepath.Join(dir, "x.commits")
	must.Do(t, errors.Join(syscall.Mkfifo(filepath.Join(dir, serveLock), 0o600), syscall.Mkfifo(commits, 0o600)))
	refused := make(chan error, 2)
	go func() {
		_, err := LockFolder(dir, "a test", "")
		refused <- err
		_, err = readCommits(commits)
		refused <- err
	}()
	for range cap(refused) {
		if err := await(t, refused); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("error %v", err)
		}
	}
}
