package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
)

var noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// fixture is a database with jobs, and a clock that stands still until it is moved.
type fixture struct {
	db    *sqldb.DB
	place dbtest.DB
	*dbtest.Clock
}

func engines(t *testing.T, fn func(t *testing.T, f *fixture)) {
	t.Helper()
	t.Parallel()
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) { fn(t, open(t, at)) })
}

// open makes the tables of jobs in an empty database.
func open(t *testing.T, at dbtest.DB) *fixture {
	t.Helper()
	db := must.Get(sqldb.Open(t.Context(), sqldb.Options{URL: at.URL, Path: filepath.Join(at.Dir, "jobs.db"), Schemas: []sqldb.Schema{Schema}}))(t)
	t.Cleanup(func() {
		expect.NoError(t, db.Close())
	})
	must.Do(t, db.Migrate(t.Context()))
	return &fixture{db, at, dbtest.NewClock(noon)}
}

// queue returns a queue as that of another process, with one kind.
func (f *fixture) queue(work func(context.Context, *Run) (any, error)) *Queue {
	q := New(f.db, f.Now, slog.New(slog.DiscardHandler))
	q.Handle("test", Kind{Work: work})
	return q
}

func (f *fixture) add(t *testing.T) int64 {
	t.Helper()
	var id int64
	must.Do(t, f.db.Tx(t.Context(), func(tx sqldb.Queries) (err error) {
		id, err = Add(t.Context(), tx, "test", 0, map[string]int{"n": 7}, f.Now())
		return err
	}))
	return id
}

// taken leases a job, as a process does that dies before it ends it.
func (f *fixture) taken(t *testing.T, q *Queue, id int64) *Run {
	t.Helper()
	r, err := q.take(t.Context(), "test", id)
	if err != nil || r == nil {
		t.Fatal(r, err)
	}
	return r
}

// want compares a job with its state, attempts, result and error.
func (f *fixture) want(t *testing.T, id int64, want string) {
	t.Helper()
	j, err := Find(t.Context(), f.db.Queries(), "test", id)
	if got := fmt.Sprintf("%s %d %s %s", j.State, j.Attempts, j.Result, j.Error); err != nil || got != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	if ended := j.State == Done || j.State == Failed || j.State == Cancelled; ended == j.EndedAt.IsZero() {
		t.Errorf("%s ended at %s", j.State, j.EndedAt)
	}
}

// ran has a queue run its next job, and returns whether there was one.
func ran(t *testing.T, q *Queue) bool {
	t.Helper()
	ran, err := q.RunNext(t.Context())
	if err != nil {
		t.Error(err)
	}
	return ran
}

func answer(context.Context, *Run) (any, error) { return 42, nil }

func TestJobsAreRunOnceAndInTheirOrder(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		var order []string
		q := f.queue(func(_ context.Context, r *Run) (any, error) {
			order = append(order, fmt.Sprintf("%d %s", r.ID, r.Payload))
			return len(order), nil
		})
		first, second := f.add(t), f.add(t)
		for i, want := range []bool{true, true, false} {
			expect.Equalf(t, ran(t, q), want, "run %d", i)
		}
		f.want(t, first, "done 1 1 ")
		f.want(t, second, "done 1 2 ")
		if want := fmt.Sprintf(`[%d {"n":7} %d {"n":7}]`, first, second); fmt.Sprint(order) != want {
			t.Errorf("%v, want %s", order, want)
		}
	})
}

func TestAJobOfADeadProcessIsRunAgainWhenItsLeaseEnds(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		id := f.add(t)
		dead := f.taken(t, f.queue(answer), id)
		q := f.queue(answer)
		if ran(t, q) {
			t.Error("run beside its process")
		}
		f.Move(leaseTime - time.Second)
		dead.renew(t.Context())
		f.Move(2 * time.Second)
		if ran(t, q) {
			t.Error("run although its lease was renewed")
		}
		f.Move(leaseTime)
		if !ran(t, q) {
			t.Error("not run again")
		}
		f.want(t, id, "done 2 42 ")
		err := f.db.Tx(t.Context(), func(tx sqldb.Queries) error { return dead.Finish(t.Context(), tx, 1) })
		if !errors.Is(err, errLost) {
			t.Errorf("the dead process finished it: %v", err)
		}
	})
}

func TestOfManyProcessesOneRunsAJob(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.add(t)
		var mu sync.Mutex
		runs := 0
		var all sync.WaitGroup
		for range 5 {
			q := f.queue(func(context.Context, *Run) (any, error) {
				mu.Lock()
				defer mu.Unlock()
				runs++
				return nil, nil
			})
			all.Go(func() { ran(t, q) })
		}
		all.Wait()
		expect.Equalf(t, runs, 1, "runs")
	})
}

func TestACancelledJobCannotFinish(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		var q *Queue
		cancel := func(id int64) (ended bool) {
			told := false
			ended, err := q.Cancel(t.Context(), "test", id, func(sqldb.Queries) error { told = true; return nil })
			if err != nil || told == ended {
				t.Errorf("cancel: %v, told %t, ended %t", err, told, ended)
			}
			return ended
		}
		q = f.queue(func(ctx context.Context, r *Run) (any, error) {
			cancel(r.ID)
			if !errors.Is(context.Cause(ctx), errCancelled) {
				t.Error("the work is not told")
			}
			err := f.db.Tx(context.WithoutCancel(ctx), func(tx sqldb.Queries) error { return r.Finish(context.WithoutCancel(ctx), tx, 1) })
			if !errors.Is(err, errLost) {
				t.Errorf("finished: %v", err)
			}
			return nil, context.Cause(ctx)
		})
		queued, running := f.add(t), f.add(t)
		if cancel(queued) || !ran(t, q) || ran(t, q) {
			t.Error("a cancelled job was run")
		}
		f.want(t, queued, "cancelled 0  ")
		f.want(t, running, "cancelled 1  ")
		if !cancel(running) {
			t.Error("cancelled twice")
		}
		q = f.queue(answer)
		done := f.add(t)
		if ran(t, q); !cancel(done) {
			t.Error("a job that is done was cancelled")
		}
		f.want(t, done, "done 1 42 ")
	})
}

func TestHowTheWorkEndsDecidesWhatBecomesOfAJob(t *testing.T) {
	cases := []struct {
		name  string
		err   error
		want  string
		again bool // it is run again at once by another process
	}{
		{"its own error is kept", fault.Invalid("x", "The file is empty"), "failed 1  The file is empty", false},
		{"another error is only logged", errors.New("secret"), "failed 1  The job failed; the log of the server has the cause", false},
		{"what is unavailable is tried later", fault.Unavailable("x", "no"), "queued 1  ", false},
		{"what belongs to another process waits for it", ErrElsewhere, "queued 0  ", true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			engines(t, func(t *testing.T, f *fixture) {
				id := f.add(t)
				q := f.queue(func(context.Context, *Run) (any, error) { return nil, c.err })
				if !ran(t, q) || ran(t, q) {
					t.Error("not run once")
				}
				f.want(t, id, c.want)
				if ran(t, f.queue(answer)) != c.again {
					t.Errorf("run again: %t", !c.again)
				}
				if f.Move(leaseTime); c.err != nil && fault.IsUnavailable(c.err) {
					ran(t, q)
					f.want(t, id, "queued 2  ")
				}
			})
		})
	}
}

func TestAPanicFailsAJobAndNotItsProcess(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		id := f.add(t)
		ran(t, f.queue(func(context.Context, *Run) (any, error) { panic("oops") }))
		f.want(t, id, "failed 1  The job failed; the log of the server has the cause")
	})
}

func TestAJobThatEndsItsProcessIsBegunFiveTimes(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		id := f.add(t)
		for range maxAttempts {
			f.taken(t, f.queue(answer), id)
			f.Move(leaseTime + time.Second)
		}
		if ran(t, f.queue(answer)) {
			t.Error("begun once more")
		}
		f.want(t, id, "failed 6  The job was interrupted 5 times")
	})
}

func TestAProcessThatStopsLeavesItsJobToTheNext(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		id := f.add(t)
		ctx, stop := context.WithCancel(t.Context())
		q := f.queue(func(ctx context.Context, r *Run) (any, error) {
			r.ReportNow(ctx, "half")
			stop()
			<-ctx.Done()
			return nil, context.Cause(ctx)
		})
		if _, err := q.RunNext(ctx); err != nil {
			t.Error(err)
		}
		f.want(t, id, "queued 0  ")
		if j, err := Find(t.Context(), f.db.Queries(), "test", id); err != nil || string(j.Progress) != `"half"` {
			t.Errorf("progress %s, %v", j.Progress, err)
		}
		if !ran(t, f.queue(answer)) {
			t.Error("not run at once")
		}
		f.want(t, id, "done 1 42 ")
	})
}

func TestEndedJobsAreForgotten(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		q, done := f.queue(answer), f.add(t)
		ran(t, q)
		open := f.add(t)
		prune := func(later time.Duration) {
			f.Move(later)
			must.Do(t, q.Prune(t.Context()))
		}
		prune(keptTime - time.Second)
		f.want(t, done, "done 1 42 ")
		prune(time.Second)
		if _, err := Find(t.Context(), f.db.Queries(), "test", done); !errors.Is(err, sqldb.ErrNotFound) {
			t.Errorf("%v", err)
		}
		f.want(t, open, "queued 0  ")
	})
}

func TestJobsFromBeforeScopesBelongToTheWorkspaceOfTheirPayload(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.withoutSchedules(t)
		for _, statement := range []string{
			`DROP INDEX jobs_by_scope`, `ALTER TABLE jobs DROP COLUMN scope`, `DELETE FROM jobs_versions WHERE version_id > 1`,
			`INSERT INTO jobs (kind, payload, state, attempts, run_at, lease, progress, result, error, created_at) VALUES
				('test', '{"workspace_id":7}', 'queued', 0, '2026-11-01T12:00:00Z', '', '', '', '', '2026-11-01T12:00:00Z'),
				('test', '{}', 'queued', 0, '2026-11-01T12:00:00Z', '', '', '', '', '2026-11-01T12:00:00Z')`,
		} {
			must.Get(f.db.Queries().Exec(t.Context(), statement))(t)
		}
		must.Do(t, f.db.Migrate(t.Context()))
		for scope, want := range map[int64]int64{7: 1, 0: 1, 8: 0} {
			list, err := ListIn(t.Context(), f.db.Queries(), "test", scope)
			if err != nil || int64(len(list)) != want {
				t.Errorf("scope %d: %+v, %v", scope, list, err)
			}
			if n, err := CountOpen(t.Context(), f.db.Queries(), "test", scope); err != nil || n != want {
				t.Errorf("scope %d: %d open, %v", scope, n, err)
			}
		}
	})
}
