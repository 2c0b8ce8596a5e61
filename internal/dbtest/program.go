package dbtest

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// NeedProgram skips a test on a machine that lacks a program, as [Skip] does.
func NeedProgram(t testing.TB, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		Skip(t, err)
	}
}

// Skip skips a test on a machine that lacks something, with one visible line; with
// COUNTERSIGN_REQUIRE_ALL=1 that is a failure.
func Skip(t testing.TB, why error) {
	t.Helper()
	if os.Getenv("COUNTERSIGN_REQUIRE_ALL") == "1" {
		t.Fatalf("COUNTERSIGN_REQUIRE_ALL=1 forbids to skip this: %v", why)
	}
	fmt.Fprintf(os.Stderr, "skipped: %s: %v\n", t.Name(), why)
	t.Skip(why)
}
