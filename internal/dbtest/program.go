package dbtest

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// NeedProgram skips a test on a machine that lacks a program, with one visible
// line; with COUNTERSIGN_REQUIRE_ALL=1 that is a failure.
func NeedProgram(t testing.TB, name string) {
	t.Helper()
	_, err := exec.LookPath(name)
	if err == nil {
		return
	}
	if os.Getenv("COUNTERSIGN_REQUIRE_ALL") == "1" {
		t.Fatalf("COUNTERSIGN_REQUIRE_ALL=1 forbids to skip this: %v", err)
	}
	fmt.Fprintf(os.Stderr, "skipped: %s: %v\n", t.Name(), err)
	t.Skip(err)
}
