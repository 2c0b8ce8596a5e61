package dbtest

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign/internal/must"
)

// What a child finds in its environment: its step, and the database of its test.
const (
	envStep = "COUNTERSIGN_TEST_STEP"
	envDir  = "COUNTERSIGN_TEST_DIR"
	envURL  = "COUNTERSIGN_TEST_URL"
)

// Child is the test binary, run again as a process of its own that a test kills: see [Main].
type Child struct {
	// Lines are what it prints.
	Lines  *bufio.Scanner
	cmd    *exec.Cmd
	output io.Reader
}

// ChildStep returns the step at which this process waits to be killed, and the database of the
// test that started it. The step is "" in a process that no test has started.
func ChildStep() (step string, place DB) {
	return os.Getenv(envStep), DB{Dir: os.Getenv(envDir), URL: os.Getenv(envURL)}
}

// Main is the TestMain of a package whose test binary is also the child. There it does what is to be
// killed: it returns only if that failed.
func Main(m *testing.M, beKilled func(step string, place DB) error) {
	if step, place := ChildStep(); step != "" {
		fmt.Println("failed:", beKilled(step, place))
		os.Exit(1)
	}
	Setup()
	os.Exit(m.Run())
}

// StopAt returns what a child calls at each point at which it may be killed. At the one whose number
// is the step, it and all that call it later wait for that.
func StopAt(step string) (point func(), err error) {
	stopAt, err := strconv.Atoi(step)
	var mu sync.Mutex
	points := 0
	return func() {
		mu.Lock()
		defer mu.Unlock()
		if points++; points == stopAt {
			fmt.Println("waiting")
			select {}
		}
	}, err
}

// StartChild starts a child. The step must not be empty; env are more variables, as NAME=value.
func StartChild(t testing.TB, place DB, step string, env ...string) *Child {
	t.Helper()
	c := &Child{cmd: exec.Command(os.Args[0])}
	c.cmd.Env = append(append(os.Environ(), envStep+"="+step, envDir+"="+place.Dir, envURL+"="+place.URL), env...)
	c.cmd.Stderr = os.Stderr
	output := must.Get(c.cmd.StdoutPipe())(t)
	must.Do(t, c.cmd.Start())
	c.output, c.Lines = output, bufio.NewScanner(output)
	return c
}

// Kill ends a child without any warning. What it has printed before can still be read.
func (c *Child) Kill() { _ = c.cmd.Process.Kill() }

// Wait waits for the end of a child.
func (c *Child) Wait() {
	_, _ = io.Copy(io.Discard, c.output)
	_ = c.cmd.Wait()
}

// Killed runs a child, and kills it when it prints "waiting" at its step, or "waiting: done"
// after all of them. It returns whether the child had done everything.
func Killed(t testing.TB, place DB, step string) (done bool) {
	t.Helper()
	c := StartChild(t, place, step)
	c.Lines.Scan()
	said := c.Lines.Text()
	if !strings.HasPrefix(said, "waiting") {
		t.Errorf("step %s: the process said %q, %v", step, said, c.Lines.Err())
	}
	c.Kill()
	c.Wait()
	return said == "waiting: done"
}

// Steps returns the steps at which a test kills its child on an engine, without an end: every
// second one, so that each is a step of one engine. The test stops when the child had done everything.
func Steps(engine string) iter.Seq[int] {
	return func(yield func(int) bool) {
		first := 1
		if engine == Postgres {
			first = 2
		}
		for step := first; yield(step); step += 2 {
		}
	}
}
