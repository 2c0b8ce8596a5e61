//go:build unix

package config_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign/countersign/internal/config"
	"github.com/countersign/countersign/internal/must"
)

func TestAPipeIsNotWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	must.Do(t, syscall.Mkfifo(path, 0o600))
	if _, err := config.Read(path); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Errorf("%v", err)
	}
}
