package sqldb

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

func TestFolderHasOneServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lock := must.Get(LockFolder(dir, "process 17 on 127.0.0.1:8080", "https://shop.example"))(t)
	_, err := LockFolder(dir, "process 18 on 127.0.0.1:8081", "")
	var apiErr *countersign.Error
	if !errors.As(err, &apiErr) || apiErr.Kind != countersign.KindConflict {
		t.Fatalf("the second server: %v, want one of kind Conflict", err)
	}
	if !strings.Contains(apiErr.Message, "is served by process 17 on 127.0.0.1:8080") || !strings.Contains(apiErr.Message, dir) {
		t.Errorf("the message %q does not name the first server and the folder", apiErr.Message)
	}
	wantPrivate(t, filepath.Join(dir, serveLock))
	expect.Equalf(t, ServedAt(dir), "https://shop.example", "the folder is served at")
	lock.Unlock()
	expect.Equalf(t, ServedAt(dir), "", "after its server has ended, the folder is served at")
	lock, err = LockFolder(dir, "process 19", "")
	if err != nil {
		t.Fatalf("after the first has ended: %v", err)
	}
	lock.Unlock()
}

func TestLockOfAMissingFolder(t *testing.T) {
	if _, err := LockFolder(filepath.Join(t.TempDir(), "none"), "process 17", ""); err == nil {
		t.Error("a missing folder was locked")
	}
}

func TestLookingForAServerMakesNothing(t *testing.T) {
	dir := t.TempDir()
	expect.Equalf(t, ServedAt(dir), "", "a folder without a server is served at")
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("the folder holds %v, %v", files, err)
	}
}

func TestLookingForAServerStopsNoneFromStarting(t *testing.T) {
	dir := t.TempDir()
	lock := must.Get(LockFolder(dir, "process 17", ""))(t)
	lock.Unlock()
	looks := make(chan struct{})
	go func() {
		defer close(looks)
		for range 200 {
			ServedAt(dir)
		}
	}()
	for range 20 {
		lock := must.Get(LockFolder(dir, "process 18", ""))(t)
		lock.Unlock()
	}
	<-looks
}
