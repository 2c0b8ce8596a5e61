package jobs

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/sqldb"
)

// Figures are what metrics say of the open jobs of a kind.
type Figures struct {
	Kind string
	// Open is how many have not ended. Of these, Due could have been begun, and Retrying
	// have failed before.
	Open, Due, Retrying int64
	// OldestDue is for how long the first of those that are due could have been begun.
	OldestDue time.Duration
}

// Figures reads the figures of all kinds that the queue handles, by their names.
func (q *Queue) Figures(ctx context.Context) ([]Figures, error) {
	now := q.now()
	rows, err := sqldb.List(ctx, q.db.Queries(), func(r sqldb.Row) (f Figures, err error) {
		var first sqldb.Time
		err = r.Scan(&f.Kind, &f.Open, &f.Due, &f.Retrying, &first)
		f.OldestDue = max(0, now.Sub(first.Time))
		return f, err
	}, `SELECT kind, count(*), sum(CASE WHEN run_at <= $1 THEN 1 ELSE 0 END), sum(CASE WHEN failures > 0 THEN 1 ELSE 0 END), min(run_at)
		FROM jobs WHERE ended_at IS NULL GROUP BY kind`, sqldb.Time{Time: now})
	if err != nil {
		return nil, err
	}
	all := make([]Figures, 0, len(q.kinds))
	for _, kind := range slices.Sorted(maps.Keys(q.kinds)) {
		one := Figures{Kind: kind}
		if i := slices.IndexFunc(rows, func(f Figures) bool { return f.Kind == kind }); i >= 0 {
			one = rows[i]
		}
		all = append(all, one)
	}
	return all, nil
}

// Outcome is how a run of a job ended.
type Outcome string

// The outcomes.
const (
	RunDone      Outcome = "done"
	RunFailed    Outcome = "failed"
	RunRetried   Outcome = "retried" // it failed, and the job is run again
	RunCancelled Outcome = "cancelled"
)

// Outcomes lists all outcomes.
var Outcomes = [...]Outcome{RunDone, RunFailed, RunRetried, RunCancelled}

// Runs are the runs of a kind in this process that ended in one way.
type Runs struct {
	Kind    string
	Outcome Outcome
	Count   int64
}

type runKey struct {
	kind    string
	outcome Outcome
}

// Runs counts the runs of this process, also what did not happen yet.
func (q *Queue) Runs() []Runs {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := make([]Runs, 0, len(q.kinds)*len(Outcomes))
	for _, kind := range slices.Sorted(maps.Keys(q.kinds)) {
		for _, outcome := range Outcomes {
			all = append(all, Runs{kind, outcome, q.runs[runKey{kind, outcome}]})
		}
	}
	return all
}

// count counts a run, by what became of its job.
func (q *Queue) count(job Job) {
	outcome := RunDone // a job that is run once more because somebody asked for it
	switch {
	case !job.EndedAt.IsZero():
		outcome = Outcome(job.State)
	case job.failures > 0:
		outcome = RunRetried
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.runs[runKey{job.Kind, outcome}]++
}
