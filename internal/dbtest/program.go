package dbtest

import (
	"fmt"
	"os/exec"
	"sync"
	"testing"
)

// NeedProgram skips a test on a machine that lacks a program, as [Skip] does.
func NeedProgram(t testing.TB, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		Skip(t, err)
	}
}

// noTests is the line by which go test marks a package with "[no tests to run]". It
// prints nothing else about a package whose tests pass.
const noTests = "\ntesting: warning: no tests to run"

// Skip skips a test on a machine that lacks something. go test marks its package with
// "[no tests to run]", and says with -v which test it is and what is missing; with
// COUNTERSIGN_REQUIRE_ALL=1 that is a failure.
func Skip(t testing.TB, why error) {
	t.Helper()
	if required() {
		t.Fatalf("COUNTERSIGN_REQUIRE_ALL=1 forbids to skip this: %v", why)
	}
	mark.Do(func() { fmt.Println(noTests) })
	t.Skip(why)
}

var mark sync.Once

// Long skips a test that go test -short leaves out: one that needs PostgreSQL, or that
// builds and runs whole programs.
func Long(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out by -short")
	}
}
