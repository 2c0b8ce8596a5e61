package sqldb

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

func TestFolderHasOneServer(t *testing.T) {
	dir := t.TempDir()
	unlock, err := LockFolder(dir, "process 17 on 127.0.0.1:8080")
	if err != nil {
		t.Fatal(err)
	}
	_, err = LockFolder(dir, "process 18 on 127.0.0.1:8081")
	var ours *countersign.Error
	if !errors.As(err, &ours) || ours.Kind != countersign.KindConflict {
		t.Fatalf("the second server: %v, want one of kind Conflict", err)
	}
	if !strings.Contains(ours.Message, "process 17 on 127.0.0.1:8080") || !strings.Contains(ours.Message, dir) {
		t.Errorf("the message %q does not name the first server and the folder", ours.Message)
	}
	wantPrivate(t, filepath.Join(dir, serveLock))
	unlock()
	unlock, err = LockFolder(dir, "process 19")
	if err != nil {
		t.Fatalf("after the first has ended: %v", err)
	}
	unlock()
}

func TestLockOfAMissingFolder(t *testing.T) {
	if _, err := LockFolder(filepath.Join(t.TempDir(), "none"), "process 17"); err == nil {
		t.Error("a missing folder was locked")
	}
}
