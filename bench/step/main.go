//go:build linux

// Command step runs one step of .ci/run and notes what it cost, or compares what all steps
// cost with their budgets.
//
//	step run FILE NAME COMMAND ...   run a command; add a line about it to a file
//	step report FILE BUDGET          print the lines; exit 1 when a step costs more than twice its budget
//
// What a step costs is the processor time of the command and of everything that it started, divided
// by that of a fixed loop, which is measured before each step. So it hardly depends on the machine.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"golang.org/x/sys/unix"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "step:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	switch {
	case len(args) >= 4 && args[0] == "run":
		return runStep(args[1], args[2], args[3:])
	case len(args) == 3 && args[0] == "report":
		steps, err := read(args[1], func(line string, s *step) (int, error) {
			return fmt.Sscan(line, &s.name, &s.wall, &s.processor, &s.loop)
		})
		if err != nil {
			return err
		}
		budgets, err := read(args[2], func(line string, s *step) (int, error) { return fmt.Sscan(line, &s.name, &s.budget) })
		if err != nil {
			return err
		}
		return report(out, steps, budgets)
	}
	return errors.New("usage: step run FILE NAME COMMAND ..., or step report FILE BUDGET")
}

// step is what a step cost, in seconds, or may cost, in loops.
type step struct {
	name                          string
	wall, processor, loop, budget float64
}

// loops is the processor time as a multiple of the fixed loop.
func (s step) loops() float64 { return s.processor / s.loop }

// runStep runs a command and appends what it cost to a file, also when it failed.
func runStep(file, name string, command []string) error {
	loop := calibrate()
	// What outlives its parent, as the servers of tests do for a moment, becomes a child of this process.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopt the processes of a step: %w", err)
	}
	begin, before := time.Now(), spent(unix.RUSAGE_CHILDREN)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	failed := cmd.Run()
	wall := time.Since(begin)
	reap()
	s := step{name: name, wall: wall.Seconds(), processor: (spent(unix.RUSAGE_CHILDREN) - before).Seconds(), loop: loop.Seconds()}
	fmt.Printf("== %s: %.0f s, %.0f processor s, %.0f loops\n", name, s.wall, s.processor, s.loops())
	return errors.Join(failed, appendLine(file, fmt.Sprintln(s.name, s.wall, s.processor, s.loop)))
}

// reap waits for the processes that a command left, which end by themselves, but for services that
// an installation has started.
func reap() {
	for range 100 {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		switch {
		case err != nil && !errors.Is(err, syscall.EINTR):
			return // none are left
		case pid == 0:
			time.Sleep(50 * time.Millisecond)
		}
	}
}

func appendLine(path, line string) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(line)
	return errors.Join(err, file.Close())
}

// calibrate returns the processor time of the fixed loop: to sort a million numbers a few times.
func calibrate() time.Duration {
	begin := spent(unix.RUSAGE_SELF)
	numbers := make([]uint64, 1_000_000)
	for range 5 {
		for i, x := 0, uint64(1); i < len(numbers); i++ {
			x = x*6364136223846793005 + 1442695040888963407
			numbers[i] = x
		}
		slices.Sort(numbers)
	}
	return spent(unix.RUSAGE_SELF) - begin
}

// spent is the processor time of this process, or of its children that have ended.
func spent(who int) time.Duration {
	var usage unix.Rusage
	if err := unix.Getrusage(who, &usage); err != nil {
		panic(err) // only for a who that does not exist
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// read reads the steps of a file, a line each. Lines that begin with # are comments.
func read(path string, scan func(line string, s *step) (int, error)) (steps []step, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var s step
		if _, err := scan(line, &s); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", path, line, err)
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// report prints what the steps cost. Its error names those that have no budget or cost more than
// twice of it.
func report(out io.Writer, steps, budgets []step) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "seconds\tprocessor s\tloops\tbudget\t  step\t")
	var total step
	var over []error
	for _, s := range steps {
		i := slices.IndexFunc(budgets, func(b step) bool { return b.name == s.name })
		switch {
		case i < 0:
			over = append(over, fmt.Errorf("the step %s has no budget", s.name))
		default:
			s.budget = budgets[i].budget
			if s.loops() > 2*s.budget {
				over = append(over, fmt.Errorf("the step %s costs %.0f loops; its budget is %.0f, and at most twice of it is allowed", s.name, s.loops(), s.budget))
			}
		}
		fmt.Fprintf(table, "%.0f\t%.0f\t%.0f\t%.0f\t  %s\t\n", s.wall, s.processor, s.loops(), s.budget, s.name)
		total.wall, total.processor = total.wall+s.wall, total.processor+s.processor
	}
	fmt.Fprintf(table, "%.0f\t%.0f\t\t\t  in all\t\n", total.wall, total.processor)
	return errors.Join(append(over, table.Flush())...)
}
