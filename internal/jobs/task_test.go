package jobs

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
)

func (f *fixture) task(key string, payload any, in time.Duration) Task {
	return Task{Kind: "test", Key: key, Payload: payload, Due: f.Now().Add(in)}
}

func TestAKeyHasOneOpenJob(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		tx := func(fn func(sqldb.Queries) error) {
			t.Helper()
			must.Do(t, f.db.Tx(t.Context(), fn))
		}
		put := func(payload int, in time.Duration) {
			t.Helper()
			tx(func(q sqldb.Queries) error { return Put(t.Context(), q, f.task("a", payload, in), f.Now()) })
		}
		ensure := func(payload int, in time.Duration) {
			t.Helper()
			tx(func(q sqldb.Queries) error { return Ensure(t.Context(), q, f.task("a", payload, in), f.Now()) })
		}
		want := func(rule, want string) {
			t.Helper()
			expect.Equalf(t, f.open(t, "a"), want, "%s", rule)
		}
		put(1, time.Hour)
		want("Put creates", "1 in 3600")
		put(2, 2*time.Hour)
		want("Put does not move later", "2 in 3600")
		put(3, time.Minute)
		want("Put moves earlier", "3 in 60")
		postpone := func(kind string) {
			t.Helper()
			tx(func(q sqldb.Queries) error { return Postpone(t.Context(), q, kind, f.Now(), f.Now().Add(time.Hour)) })
		}
		postpone("test")
		want("what is not due is not postponed", "3 in 60")
		f.Move(time.Minute)
		postpone("other")
		want("another kind is not postponed", "3 in 0")
		postpone("test")
		want("what is due is postponed", "3 in 3600")
		put(3, time.Minute)
		exact := f.task("a", 3, time.Hour)
		exact.Exact = true
		f.put(t, exact)
		want("an exact time is also later", "3 in 3600")
		put(3, time.Minute)
		ensure(4, 0)
		want("Ensure keeps", "3 in 60")
		tx(func(q sqldb.Queries) error { return Discard(t.Context(), q, "test", "b", f.Now()) })
		want("another key is not discarded", "3 in 60")
		tx(func(q sqldb.Queries) error { return Discard(t.Context(), q, "test", "a", f.Now()) })
		want("Discard ends", "none")
		ensure(5, time.Hour)
		want("Ensure creates", "5 in 3600")
		if f.Move(time.Hour); !ran(t, f.queue(answer)) || ran(t, f.queue(answer)) {
			t.Error("not run once")
		}
		want("a job that was run is not open", "none")
		put(6, 0)
		want("a new one can follow", "6 in 0")
	})
}

func TestATaskHasAKey(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		if err := f.db.Tx(t.Context(), func(tx sqldb.Queries) error { return Put(t.Context(), tx, f.task("", 1, 0), f.Now()) }); err == nil {
			t.Error("a task without a key was written")
		}
	})
}

// What a run has read may be older than the cause of a task that comes while it runs.
func TestATaskOfAKeyThatRunsIsRunOnceMore(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		var payloads []string
		id := f.put(t, f.task("a", 1, 0))
		q := f.queue(func(_ context.Context, r *Run) (any, error) {
			if payloads = append(payloads, string(r.Payload)); len(payloads) == 1 {
				f.put(t, f.task("a", 2, time.Hour))
				f.put(t, f.task("a", 3, time.Minute))
				f.put(t, f.task("a", 4, 2*time.Hour))
			}
			return nil, nil
		})
		ran(t, q)
		expect.Equal(t, f.open(t, "a"), "4 in 60")
		if f.Move(time.Minute); !ran(t, q) || ran(t, q) {
			t.Error("not run once more")
		}
		f.want(t, id, "done 1 null ")
		expect.Equalf(t, fmt.Sprint(payloads), "[1 4]", "%v", payloads)
	})
}

func TestWorkCanRepeatItself(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		id := f.put(t, f.task("daily", 1, 0))
		q := f.queue(func(ctx context.Context, r *Run) (any, error) {
			return nil, f.db.Tx(ctx, func(tx sqldb.Queries) error {
				if err := Put(ctx, tx, f.task("daily", 1, 24*time.Hour), f.Now()); err != nil {
					return err
				}
				return r.Finish(ctx, tx, nil)
			})
		})
		for range 3 {
			if !ran(t, q) || ran(t, q) {
				t.Error("not run once")
			}
			f.want(t, id, "queued 0 null ")
			f.Move(24 * time.Hour)
		}
	})
}

func TestATaskThatComesDuringAFailureBeginsItsScheduleAnew(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.put(t, f.task("a", 1, 0))
		runs := 0
		q := f.scheduled(Kind{Retries: []time.Duration{time.Minute}, Work: func(ctx context.Context, r *Run) (any, error) {
			if runs++; runs == 2 {
				f.put(t, f.task("a", 2, time.Second))
			}
			return fails(ctx, r)
		}})
		ran(t, q)
		f.Move(time.Minute)
		ran(t, q) // the last attempt
		expect.Equal(t, f.open(t, "a"), "2 in 1")
		f.Move(time.Second)
		ran(t, q)
		expect.Equal(t, f.open(t, "a"), "2 in 60")
	})
}

func TestTheJobsOfAScopeAreDiscarded(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		for key, scope := range map[string]int64{"a": 1, "b": 1, "c": 2} {
			f.put(t, Task{Kind: "test", Key: key, Scope: scope, Due: f.Now()})
		}
		must.Do(t, f.db.Tx(t.Context(), func(tx sqldb.Queries) error { return DiscardIn(t.Context(), tx, "test", 1, f.Now()) }))
		if a, b, c := f.open(t, "a"), f.open(t, "b"), f.open(t, "c"); a != "none" || b != "none" || c == "none" {
			t.Error(a, b, c)
		}
	})
}

func TestADiscardedJobCannotFinish(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		id := f.put(t, f.task("a", 1, 0))
		ran(t, f.queue(func(ctx context.Context, r *Run) (any, error) {
			return 42, f.db.Tx(ctx, func(tx sqldb.Queries) error { return Discard(ctx, tx, "test", "a", f.Now()) })
		}))
		f.want(t, id, "cancelled 1  ")
	})
}
