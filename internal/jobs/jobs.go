// Package jobs runs work that outlives the request that asked for it, and a restart. A job
// is a row that is written in the transaction of its cause. The process that runs it has a
// lease, which it renews; when the process dies, another one runs the job again.
package jobs

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/sqldb"
)

//go:embed migrations/*.sql
var files embed.FS

// Schema is the table of jobs.
var Schema = sqldb.Schema{Name: "jobs", Files: files}

// State is how far a job is.
type State string

// The states of a job. The last three are ends.
const (
	Queued    State = "queued"
	Running   State = "running"
	Done      State = "done"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// Job is a piece of work. Payload, Progress and Result are JSON; the last two may be empty.
type Job struct {
	ID   int64
	Kind string
	// Key is empty for a job that [Add] wrote.
	Key     string
	Payload []byte
	State   State
	// Attempts counts how often the job was begun.
	Attempts int64
	// RunAt is when a queued job may be begun, and when the lease of a running one ends.
	RunAt    countersign.Timestamp
	Progress []byte
	Result   []byte
	// Error is the public message of a job that failed.
	Error     string
	CreatedAt countersign.Timestamp
	// EndedAt is zero for a job that has not ended.
	EndedAt countersign.Timestamp

	failures    int64 // the position in the schedule of its kind
	interrupted int64 // runs since the last failure whose process died
}

const (
	columns    = `id, kind, key, payload, state, attempts, run_at, progress, result, error, created_at, ended_at, failures, interrupted`
	selectJobs = `SELECT ` + columns + ` FROM jobs `
)

func scanJob(r sqldb.Row) (j Job, err error) {
	err = r.Scan(&j.ID, &j.Kind, &j.Key, &j.Payload, &j.State, &j.Attempts, sqldb.TimestampColumn{Timestamp: &j.RunAt}, &j.Progress, &j.Result,
		&j.Error, sqldb.TimestampColumn{Timestamp: &j.CreatedAt}, sqldb.TimestampColumn{Timestamp: &j.EndedAt}, &j.failures, &j.interrupted)
	return j, err
}

// Add writes a job in the transaction of its cause and returns its id. scope is what it belongs
// to, for [ListIn]; 0 for nothing. Call [Queue.Wake] after the transaction.
func Add(ctx context.Context, tx sqldb.Queries, kind string, scope int64, payload any, now time.Time) (id int64, err error) {
	text, err := json.Marshal(payload)
	if err != nil {
		return 0, fmt.Errorf("jobs: add: %w", err)
	}
	return sqldb.One(ctx, tx, sqldb.Value[int64], `INSERT INTO jobs
		(kind, scope, payload, state, attempts, run_at, lease, progress, result, error, created_at)
		VALUES ($1, $2, $3, 'queued', 0, $4, '', '', '', '', $4) RETURNING id`, kind, scope, string(text), sqldb.Time{Time: now})
}

// Task is a job to be done once for a key.
type Task struct {
	Kind, Key string
	// Scope is what the job belongs to, for [ListIn]; 0 for nothing.
	Scope   int64
	Payload any
	// Due is when it may be begun, in whole seconds. Exact has [Put] move an open job there also from an earlier time.
	Due   time.Time
	Exact bool
}

// Put asks, in the transaction of its cause, for a run of a task that begins after it. An
// open job of the key gets the new payload, begins its schedule anew, and is due no later than the
// task. One that is running is run once more. Queues of all processes are woken.
func Put(ctx context.Context, tx sqldb.Queries, t Task, now time.Time) error {
	moves := `excluded.run_at < jobs.run_at`
	if t.Exact {
		moves = `TRUE`
	}
	return t.write(ctx, tx, now, `DO UPDATE SET payload = excluded.payload, failures = 0,
		run_at = CASE WHEN jobs.state = 'queued' AND `+moves+` THEN excluded.run_at ELSE jobs.run_at END,
		again_at = CASE WHEN jobs.state = 'queued' THEN NULL
			WHEN jobs.again_at < excluded.run_at THEN jobs.again_at ELSE excluded.run_at END`)
}

// Ensure writes the job of a task unless an open one has its key, which stays as it is.
func Ensure(ctx context.Context, tx sqldb.Queries, t Task, now time.Time) error {
	return t.write(ctx, tx, now, `DO UPDATE SET key = jobs.key`) // DO NOTHING would not wait for a transaction that ends the job
}

func (t Task) write(ctx context.Context, tx sqldb.Queries, now time.Time, onConflict string) error {
	if t.Key == "" {
		return fmt.Errorf("jobs: a task of the kind %s has no key", t.Kind)
	}
	text, err := json.Marshal(t.Payload)
	if err != nil {
		return fmt.Errorf("jobs: task: %w", err)
	}
	if t.Due.Before(now.Add(pollTime)) { // later ones are found in time by polling
		if err := tx.Mark(ctx, topic, t.Kind); err != nil {
			return err
		}
	}
	_, err = tx.Exec(ctx, `INSERT INTO jobs
		(kind, key, scope, payload, state, attempts, run_at, lease, progress, result, error, created_at)
		VALUES ($1, $2, $3, $4, 'queued', 0, $5, '', '', '', '', $6)
		ON CONFLICT (kind, key) WHERE ended_at IS NULL AND key <> '' `+onConflict,
		t.Kind, t.Key, t.Scope, string(text), sqldb.Time{Time: t.Due}, sqldb.Time{Time: now})
	return err
}

// Postpone has the queued jobs of a kind that are due begin no earlier than at a time.
func Postpone(ctx context.Context, tx sqldb.Queries, kind string, now, until time.Time) error {
	_, err := tx.Exec(ctx, `UPDATE jobs SET run_at = $1 WHERE kind = $2 AND state = 'queued' AND run_at <= $3`,
		sqldb.Time{Time: until}, kind, sqldb.Time{Time: now})
	return err
}

// Discard cancels the open job of a key, if there is one. One that is running can't finish
// any more.
func Discard(ctx context.Context, tx sqldb.Queries, kind, key string, now time.Time) error {
	_, err := tx.Exec(ctx, `UPDATE jobs SET state = 'cancelled', lease = '', again_at = NULL, ended_at = $1
		WHERE kind = $2 AND key = $3 AND key <> '' AND ended_at IS NULL`, sqldb.Time{Time: now}, kind, key)
	return err
}

// DiscardIn cancels the open jobs of a kind in a scope.
func DiscardIn(ctx context.Context, tx sqldb.Queries, kind string, scope int64, now time.Time) error {
	_, err := tx.Exec(ctx, `UPDATE jobs SET state = 'cancelled', lease = '', again_at = NULL, ended_at = $1
		WHERE kind = $2 AND scope = $3 AND ended_at IS NULL`, sqldb.Time{Time: now}, kind, scope)
	return err
}

// Open reads the open job of a key, or returns [sqldb.ErrNotFound].
func Open(ctx context.Context, q sqldb.Queries, kind, key string) (Job, error) {
	return sqldb.One(ctx, q, scanJob, selectJobs+`WHERE kind = $1 AND key = $2 AND ended_at IS NULL`, kind, key)
}

// Find reads a job of a kind, or returns [sqldb.ErrNotFound].
func Find(ctx context.Context, q sqldb.Queries, kind string, id int64) (Job, error) {
	return sqldb.One(ctx, q, scanJob, selectJobs+`WHERE id = $1 AND kind = $2`, id, kind)
}

// List reads all jobs of a kind, newest first.
func List(ctx context.Context, q sqldb.Queries, kind string) ([]Job, error) {
	return sqldb.List(ctx, q, scanJob, selectJobs+`WHERE kind = $1 ORDER BY id DESC`, kind)
}

// ListIn reads the jobs of a kind in a scope, newest first.
func ListIn(ctx context.Context, q sqldb.Queries, kind string, scope int64) ([]Job, error) {
	return sqldb.List(ctx, q, scanJob, selectJobs+`WHERE kind = $1 AND scope = $2 ORDER BY id DESC`, kind, scope)
}

// CountOpen counts the jobs of a kind in a scope that have not ended.
func CountOpen(ctx context.Context, q sqldb.Queries, kind string, scope int64) (int64, error) {
	return sqldb.One(ctx, q, sqldb.Value[int64], `SELECT count(*) FROM jobs WHERE kind = $1 AND scope = $2 AND ended_at IS NULL`, kind, scope)
}
