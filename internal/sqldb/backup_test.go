package sqldb

import (
	"os"
	"testing"

	"github.com/countersign/countersign/internal/must"
)

func wantPrivate(t *testing.T, path string) {
	t.Helper()
	info := must.Get(os.Stat(path))(t)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("%s has mode %o, want 600", path, info.Mode().Perm())
	}
}
