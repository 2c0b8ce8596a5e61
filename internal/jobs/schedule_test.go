package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
)

// scheduled is a queue whose jobs of the kind "test" have a schedule.
func (f *fixture) scheduled(k Kind) *Queue {
	q := f.queue(nil)
	q.Handle("test", k)
	return q
}

func fails(context.Context, *Run) (any, error) { return nil, fault.Invalid("x", "refused") }

// waits runs a job until it ends or was run most times, and returns how many seconds after
// the first attempt each of the others began.
func (f *fixture) waits(t *testing.T, q *Queue, most int) (waits []int) {
	t.Helper()
	began := f.Now()
	for len(waits) < most {
		open := must.Get(q.open(t.Context(), "test", 1))(t)
		if len(open) == 0 {
			return waits
		}
		f.Move(open[0].at.Sub(f.Now()) - time.Second)
		if len(waits) > 0 && ran(t, q) {
			t.Error("run before its time")
		}
		if f.Move(time.Second); !ran(t, q) {
			t.Fatal("not run at its time")
		}
		waits = append(waits, int(f.Now().Sub(began).Seconds()))
		began = f.Now()
	}
	return waits
}

func TestAKindHasAScheduleOfItsOwn(t *testing.T) {
	short := []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute}
	cases := []struct {
		name  string
		kind  Kind
		waits []int
		end   string
	}{
		{"every error is tried again until the schedule ends", Kind{Work: fails, Retries: short}, []int{0, 5, 30, 120}, "failed 4  refused"},
		{"the last wait is repeated without end", Kind{Work: fails, Retries: short, Forever: true}, []int{0, 5, 30, 120, 120, 120, 120}, "queued 7  "},
		{"work can end it in its transaction", Kind{Retries: short, Work: func(ctx context.Context, r *Run) (any, error) {
			return nil, r.queue.db.Tx(ctx, func(tx sqldb.Queries) error { return r.Fail(ctx, tx, fault.Invalid("x", "gone")) })
		}}, []int{0}, "failed 1  gone"},
		{"work can wait longer", Kind{Retries: short, Work: func(ctx context.Context, r *Run) (any, error) {
			return nil, r.queue.db.Tx(ctx, func(tx sqldb.Queries) error {
				_, _, err := r.Retry(ctx, tx, r.queue.now().Add(time.Minute), fault.Invalid("x", "busy"))
				return err
			})
		}}, []int{0, 60, 60, 120}, "failed 4  busy"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			engines(t, func(t *testing.T, f *fixture) {
				id := f.add(t)
				if got := f.waits(t, f.scheduled(c.kind), 7); !slices.Equal(got, c.waits) {
					t.Errorf("waits %v, want %v", got, c.waits)
				}
				f.want(t, id, c.end)
			})
		})
	}
}

func TestARestartBeginsTheScheduleAnew(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		id := f.add(t)
		q := f.scheduled(Kind{Work: fails, Retries: []time.Duration{5 * time.Second, time.Hour}, Forever: true})
		for range 3 {
			ran(t, q)
			f.Move(5 * time.Second)
		}
		later := f.put(t, Task{Kind: "test", Key: "later", Due: f.Now().Add(2 * time.Hour)})
		must.Do(t, q.Restart(t.Context(), "test"))
		if got := f.waits(t, q, 3); !slices.Equal(got[1:], []int{5, 3600}) {
			t.Errorf("%v", got)
		}
		f.want(t, id, "queued 5  ")
		f.want(t, later, "queued 0  ")
	})
}

func TestAJobWithAScheduleSurvivesAnyNumberOfKills(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		id := f.add(t)
		q := f.scheduled(Kind{Work: answer, Retries: []time.Duration{time.Minute}, Lease: 10 * time.Second})
		for range maxAttempts {
			f.taken(t, q, id)
			f.Move(9 * time.Second)
			if ran(t, q) {
				t.Error("run within its lease")
			}
			f.Move(2 * time.Second)
		}
		if ran(t, q) {
			t.Error("run although it ended five processes, one after the other")
		}
		f.want(t, id, "queued 6  ")
		f.Move(time.Minute)
		if !ran(t, q) {
			t.Error("not run again")
		}
		f.want(t, id, "done 7 42 ")
	})
}

// A kill does not shorten the schedule.
func TestAnInterruptionIsNoFailure(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		id := f.add(t)
		q := f.scheduled(Kind{Work: fails, Retries: []time.Duration{time.Minute}})
		for range 2 {
			f.taken(t, q, id)
			f.Move(time.Hour)
			if !ran(t, q) {
				t.Error("not run again")
			}
			f.Move(time.Hour)
		}
		f.want(t, id, "failed 4  refused")
	})
}

func TestTablesOfAnEarlierVersionKeepTheirLeases(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.withoutSchedules(t)
		insert := `INSERT INTO jobs (kind, payload, state, attempts, run_at, lease, lease_until, progress, result, error, created_at)
			VALUES ('test', '{}', $1, 1, '2026-11-01T11:00:00Z', '', $2, '', '', '', '2026-11-01T11:00:00Z')`
		for state, until := range map[State]any{Running: "2026-11-01T12:00:20Z", Queued: nil} {
			must.Get(f.db.Queries().Exec(t.Context(), insert, string(state), until))(t)
		}
		must.Do(t, f.db.Migrate(t.Context()))
		q := f.queue(answer)
		var got []string
		for range 3 {
			got = append(got, fmt.Sprint(ran(t, q)))
			f.Move(20 * time.Second)
		}
		if want := []string{"true", "true", "false"}; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

// withoutSchedules brings the tables back to those before version 3.
func (f *fixture) withoutSchedules(t *testing.T) {
	t.Helper()
	for _, statement := range []string{
		`DROP INDEX jobs_due`, `DROP INDEX jobs_by_key`, `ALTER TABLE jobs DROP COLUMN key`, `ALTER TABLE jobs DROP COLUMN again_at`,
		`ALTER TABLE jobs DROP COLUMN failures`, `ALTER TABLE jobs DROP COLUMN interrupted`, `ALTER TABLE jobs ADD COLUMN lease_until text`,
		`CREATE INDEX jobs_open ON jobs (id) WHERE ended_at IS NULL`, `DELETE FROM jobs_versions WHERE version_id > 2`,
	} {
		must.Get(f.db.Queries().Exec(t.Context(), statement))(t)
	}
}

// put writes a task and returns the id of its job.
func (f *fixture) put(t *testing.T, task Task) int64 {
	t.Helper()
	must.Do(t, f.db.Tx(t.Context(), func(tx sqldb.Queries) error { return Put(t.Context(), tx, task, f.Now()) }))
	j := must.Get(Open(t.Context(), f.db.Queries(), task.Kind, task.Key))(t)
	return j.ID
}

// open describes the open job of a key: its payload, and in how many seconds it is due.
func (f *fixture) open(t *testing.T, key string) string {
	t.Helper()
	j, err := Open(t.Context(), f.db.Queries(), "test", key)
	if errors.Is(err, sqldb.ErrNotFound) {
		return "none"
	}
	must.Do(t, err)
	return fmt.Sprintf("%s in %.0f", j.Payload, j.RunAt.Sub(f.Now()).Seconds())
}
