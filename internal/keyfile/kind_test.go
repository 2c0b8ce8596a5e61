//go:build unix

package keyfile

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/regular"
)

func TestANamedPipeIsNotAKeyFile(t *testing.T) {
	l := &Location{Dir: t.TempDir()}
	must.Do(t, syscall.Mkfifo(filepath.Join(l.Dir, FileName), 0o600))
	_, err := l.Load()
	if !errors.Is(err, regular.ErrKind) || !fault.HasCode(l.Unusable(err), "data_folder") {
		t.Errorf("%v, told as %v", err, l.Unusable(err))
	}
	if err := keepAside(l.Dir, filepath.Join(l.Dir, FileName)); !errors.Is(err, regular.ErrKind) {
		t.Errorf("kept aside: %v", err)
	}
}
