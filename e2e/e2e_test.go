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
	"slices"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
)

// TestPagesInABrowser runs one short journey, with SWEEP=ci each journey and each page
// once, and with SWEEP=full all of them in every window, theme and front.
func TestPagesInABrowser(t *testing.T) {
	dbtest.Long(t)
	sweep := os.Getenv("SWEEP")
	if !slices.Contains([]string{"", "ci", "full"}, sweep) {
		t.Fatalf("invalid SWEEP %q: expected ci, full or nothing", sweep)
	}
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
	programs := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-race=false", "-o", programs, "../cmd/countersign", "./play")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	switch sweep {
	case "":
		script(t, programs, "tests/smoke.js", "")
	case "ci":
		script(t, programs, "sweep.test.js", "")
		script(t, programs, "tasks.test.js", "")
	case "full":
		script(t, programs, "sweep.test.js", "")
		for _, theme := range []string{"light", "dark"} {
			for _, width := range []string{"320", "768", "1280"} {
				script(t, programs, "tasks.test.js", theme+"-"+width)
			}
		}
	}
}

// script tests with a script, beside the others. look is the LOOK of its visitors.
func script(t *testing.T, programs, file, look string) {
	t.Run(file+" "+look, func(t *testing.T) {
		t.Parallel()
		node := exec.CommandContext(t.Context(), "node", "--test-reporter=spec", file)
		node.Env = append(os.Environ(), "LOOK="+look, "COUNTERSIGN_E2E_PROGRAMS="+programs,
			"COUNTERSIGN_CONFIG=none", "COUNTERSIGN_ADDON_CONFIG=none") // files of this machine
		node.Stdout, node.Stderr = t.Output(), t.Output()
		if err := node.Run(); err != nil {
			t.Fatal(err)
		}
	})
}

// lookAt reads the names and times of what the scripts test. It is built by another
// process, and go test knows only by these that an earlier result has no worth.
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
