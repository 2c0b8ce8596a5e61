package jobs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
)

// figures prints those of the kind "test".
func figures(t *testing.T, q *Queue) string {
	t.Helper()
	all, err := q.Figures(t.Context())
	if err != nil || len(all) != 1 || all[0].Kind != "test" {
		t.Fatalf("%+v, %v", all, err)
	}
	f := all[0]
	return fmt.Sprintf("open %d, due %d for %s, retrying %d", f.Open, f.Due, f.OldestDue, f.Retrying)
}

// runs prints those that happened.
func runs(q *Queue) string {
	var list []string
	for _, r := range q.Runs() {
		if r.Count > 0 {
			list = append(list, fmt.Sprintf("%d %s", r.Count, r.Outcome))
		}
	}
	return strings.Join(list, ", ")
}

func TestFiguresOfOpenJobs(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		var fails error
		q := f.queue(func(context.Context, *Run) (any, error) { return nil, fails })
		want := func(when, want string) {
			t.Helper()
			expect.Equalf(t, figures(t, q), want, "%s", when)
		}
		want("none", "open 0, due 0 for 0s, retrying 0")
		id := f.add(t)
		f.Move(time.Minute)
		f.add(t)
		want("two that nobody does", "open 2, due 2 for 1m0s, retrying 0")
		f.taken(t, q, id)
		want("one with a lease", "open 2, due 1 for 0s, retrying 0")
		f.Move(leaseTime + 10*time.Second)
		want("its process died", "open 2, due 2 for 40s, retrying 0")
		fails = fault.Unavailable("x", "down")
		for range 2 {
			if !ran(t, q) {
				t.Error("one did not run")
			}
		}
		want("both wait after a failure", "open 2, due 0 for 0s, retrying 2")
		f.Move(leaseTime)
		fails = nil
		for range 2 {
			if !ran(t, q) {
				t.Error("one did not run again")
			}
		}
		want("both are done", "open 0, due 0 for 0s, retrying 0")
		expect.Equalf(t, runs(q), "2 done, 2 retried", "runs")
	})
}

func TestRunsAreCountedByTheirOutcome(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		for _, c := range []struct {
			rule string
			err  error
			want string
		}{
			{"done", nil, "1 done"},
			{"failed", fault.Invalid("x", "no"), "1 failed"},
			{"a fault of the program", errors.New("x"), "1 failed"},
			{"to be repeated", fault.Unavailable("x", "down"), "1 retried"},
			{"left to another process", ErrElsewhere, ""},
		} {
			q := f.queue(func(context.Context, *Run) (any, error) { return nil, c.err })
			f.add(t)
			if ran(t, q); runs(q) != c.want {
				t.Errorf("%s: %q, want %q", c.rule, runs(q), c.want)
			}
			f.Move(-time.Minute) // what is left over stays behind the next
		}
	})
}
