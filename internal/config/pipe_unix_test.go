//go:build unix

package config_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign/countersign/internal/config"
)

func TestAPipeIsNotWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Read(path); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Errorf("%v", err)
	}
}
