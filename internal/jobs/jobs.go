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
	ID       int64
	Kind     string
	Payload  []byte
	State    State
	Attempts int64
	Progress []byte
	Result   []byte
	// Error is the public message of a job that failed.
	Error     string
	CreatedAt countersign.Timestamp
	// EndedAt is zero for a job that has not ended.
	EndedAt countersign.Timestamp
}

const selectJobs = `SELECT id, kind, payload, state, attempts, progress, result, error, created_at, ended_at FROM jobs `

func scanJob(r sqldb.Row) (j Job, err error) {
	err = r.Scan(&j.ID, &j.Kind, &j.Payload, &j.State, &j.Attempts, &j.Progress, &j.Result, &j.Error,
		sqldb.TimestampColumn{Timestamp: &j.CreatedAt}, sqldb.TimestampColumn{Timestamp: &j.EndedAt})
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

// Prune removes jobs that ended up to a time.
func Prune(ctx context.Context, tx sqldb.Queries, until time.Time) error {
	_, err := tx.Exec(ctx, `DELETE FROM jobs WHERE ended_at <= $1`, sqldb.Time{Time: until})
	return err
}
