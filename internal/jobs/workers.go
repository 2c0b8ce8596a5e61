package jobs

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/countersign/countersign/internal/sqldb"
)

// place is a kind, or one scope of it.
type place struct {
	kind  string
	scope int64 // allScopes for a kind
}

const allScopes = -1

// begin starts jobs that are due on the free workers of their kinds. It returns when the next
// one is due for which a worker is free, zero when none is known.
func (q *Queue) begin(ctx context.Context, work *sync.WaitGroup) (next time.Time, err error) {
	for _, kind := range slices.Sorted(maps.Keys(q.kinds)) {
		at, err := q.beginKind(ctx, kind, work)
		if err != nil {
			return time.Time{}, err
		}
		if next.IsZero() || !at.IsZero() && at.Before(next) {
			next = at
		}
	}
	return next, nil
}

func (q *Queue) beginKind(ctx context.Context, kind string, work *sync.WaitGroup) (next time.Time, err error) {
	for {
		free := q.free(kind)
		if free == 0 {
			return time.Time{}, nil // the worker that ends its job wakes the queue
		}
		open, err := q.open(ctx, kind, free+1)
		if err != nil {
			return time.Time{}, err
		}
		next, isSure, err := q.beginDue(ctx, open, free, work)
		if err != nil || isSure {
			return next, err
		}
	}
}

// beginDue begins those of the open jobs of a kind that are due. Others may be due that were not
// read if it is not sure.
func (q *Queue) beginDue(ctx context.Context, open []openJob, free int, work *sync.WaitGroup) (next time.Time, isSure bool, err error) {
	isSure = true
	for _, job := range open {
		if job.at.After(q.now()) {
			return job.at.Time, isSure, nil
		}
		if free == 0 {
			return time.Time{}, true, nil
		}
		if q.isFull(job.place) { // by an earlier one of this list
			isSure = false
			continue
		}
		r, err := q.take(ctx, job.kind, job.id)
		if err != nil {
			return time.Time{}, false, err
		}
		if r == nil { // another process was faster, and perhaps has all that were read
			isSure = false
			continue
		}
		free--
		q.occupy(job.place, 1)
		work.Go(func() {
			q.report(ctx, r.do(ctx))
			q.occupy(job.place, -1)
			q.Wake()
		})
	}
	return time.Time{}, isSure, nil
}

func (q *Queue) free(kind string) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.kinds[kind].workers() - q.busy[place{kind, allScopes}]
}

func (q *Queue) isFull(p place) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	most := q.kinds[p.kind].PerScope
	return most > 0 && q.busy[p] >= most
}

// fullScopes are those of a kind that have as many workers as they may have.
func (q *Queue) fullScopes(kind string) (full []any) {
	q.mu.Lock()
	defer q.mu.Unlock()
	most := q.kinds[kind].PerScope
	for p, n := range q.busy {
		if most > 0 && p.kind == kind && p.scope != allScopes && n >= most {
			full = append(full, p.scope)
		}
	}
	return full
}

func (q *Queue) occupy(p place, workers int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, p := range []place{p, {p.kind, allScopes}} {
		if q.busy[p] += workers; q.busy[p] == 0 {
			delete(q.busy, p)
		}
	}
}

// openJob is a job that has not ended.
type openJob struct {
	place
	id int64
	at sqldb.Time // when it may be begun
}

// open reads which jobs of a kind may be begun first, without those for other processes and those
// of scopes that have all workers they may have.
func (q *Queue) open(ctx context.Context, kind string, most int) ([]openJob, error) {
	q.mu.Lock()
	foreign := maps.Clone(q.foreign)
	q.mu.Unlock()
	where, args := `kind = $1 AND ended_at IS NULL`, []any{kind, most + len(foreign)}
	if full := q.fullScopes(kind); len(full) > 0 {
		where += ` AND scope NOT IN ` + sqldb.Placeholders(1, len(full), len(args)+1)
		args = append(args, full...)
	}
	all, err := sqldb.List(ctx, q.db.Queries(), func(r sqldb.Row) (j openJob, err error) {
		j.kind = kind
		err = r.Scan(&j.id, &j.scope, &j.at)
		return j, err
	}, `SELECT id, scope, run_at FROM jobs WHERE `+where+` ORDER BY run_at, id LIMIT $2`, args...)
	return slices.DeleteFunc(all, func(j openJob) bool { return foreign[j.id] }), err
}
