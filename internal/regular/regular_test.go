//go:build unix

package regular

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign/countersign/internal/must"
)

func TestOnlyRegularFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	pipe, file := filepath.Join(dir, "pipe"), filepath.Join(dir, "file")
	must.Do(t, syscall.Mkfifo(pipe, 0o600))
	must.Do(t, os.WriteFile(file, []byte("text"), 0o600))
	must.Do(t, os.Symlink(file, filepath.Join(dir, "link")))
	for path, want := range map[string]string{
		file: "text", filepath.Join(dir, "link"): "text", pipe: "not a regular file", dir: "not a regular file", "/dev/zero": "not a regular file",
		filepath.Join(dir, "none"): "no such file",
	} {
		text, err := Read(path, 100)
		if err == nil && string(text) != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v, want %q", path, text, err, want)
		}
	}
	if text, err := Read(file, 2); string(text) != "tex" || err != nil {
		t.Errorf("beyond the limit: %q, %v", text, err)
	}
}
