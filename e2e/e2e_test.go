// Package e2e tests the pages in a browser; its tests are the scripts beside it,
// which node runs.
package e2e

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
)

func TestPagesInABrowser(t *testing.T) {
	dbtest.Long(t)
	dbtest.NeedProgram(t, "node")
	if _, err := exec.LookPath("/usr/bin/chromium"); err != nil {
		dbtest.NeedProgram(t, cmp.Or(os.Getenv("CHROMIUM"), "/usr/bin/chromium-headless-shell"))
	}
	if _, err := os.Stat("node_modules/playwright-core"); err != nil {
		dbtest.Skip(t, fmt.Errorf("run npm ci in the folder e2e: %w", err))
	}
	for _, folder := range []string{".", "../cmd", "../internal"} {
		lookAt(t, folder)
	}
	t.Logf("SWEEP=%s", os.Getenv("SWEEP")) // another value is another test
	tests := exec.CommandContext(t.Context(), "node", "--test", "--test-reporter=spec", "--test-concurrency=2", "tasks.test.js", "sweep.test.js", "phone.test.js", "tablet.test.js")
	tests.Env = append(os.Environ(), "COUNTERSIGN_CONFIG=none", "COUNTERSIGN_ADDON_CONFIG=none") // files of this machine
	if out, err := tests.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// lookAt reads the names and times of what the scripts test. They build it by
// themselves, and go test knows only by these that an earlier result has no worth.
func lookAt(t *testing.T, folder string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == "out") {
			return fs.SkipDir
		}
		if err == nil {
			_, err = os.Stat(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
