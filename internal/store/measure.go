package store

import (
	"context"

	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/people"
)

// MeasureFiles is that of [instance.Instance].
func (s *Store) MeasureFiles(ctx context.Context) (health.Files, error) {
	return s.Instance.MeasureFiles(ctx)
}

// MeasureRows is that of [instance.Instance].
func (s *Store) MeasureRows(ctx context.Context) (health.Rows, error) {
	return s.Instance.MeasureRows(ctx)
}

// JobRuns counts the runs of jobs in this process.
func (s *Store) JobRuns() []jobs.Runs { return s.Instance.Jobs.Runs() }

// Move is that of [instance.Instance].
func (s *Store) Move(ctx context.Context, a people.Actor, o backup.MoveOptions) (backup.Moved, error) {
	return s.Instance.Move(ctx, a, o)
}

// LimitsAlone reports whether the counts of limits could not be exchanged with other servers
// the last time.
func (s *Store) LimitsAlone() bool { return s.limits.failed.Load() }
