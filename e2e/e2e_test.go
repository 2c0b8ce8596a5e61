// Package e2e tests the pages in a browser; its tests are the scripts beside it,
// which node runs.
package e2e

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
)

func TestPagesInABrowser(t *testing.T) {
	dbtest.NeedProgram(t, "node")
	dbtest.NeedProgram(t, cmp.Or(os.Getenv("CHROMIUM"), "/usr/bin/chromium"))
	if _, err := os.Stat("node_modules/playwright-core"); err != nil {
		if os.Getenv("COUNTERSIGN_REQUIRE_ALL") == "1" {
			t.Fatalf("run npm ci in the folder e2e: %v", err)
		}
		fmt.Fprintf(os.Stderr, "skipped: %s: run npm ci in the folder e2e\n", t.Name())
		t.Skip(err)
	}
	tests := exec.CommandContext(t.Context(), "node", "--test", "all.test.js")
	if out, err := tests.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
