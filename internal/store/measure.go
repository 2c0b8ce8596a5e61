package store

import (
	"context"

	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/jobs"
)

// MeasureFiles reads the figures of the data folder for metrics. It may wait for the disk.
func (s *Store) MeasureFiles(context.Context) (health.Files, error) {
	return health.MeasureFiles(s.options.Dir, s.database), nil
}

// MeasureRows reads the figures of the database for metrics.
func (s *Store) MeasureRows(ctx context.Context) (health.Rows, error) {
	if err := s.gate.Ready(); err != nil {
		return health.Rows{}, err
	}
	return health.MeasureRows(ctx, s.database, s.jobs, s.chain)
}

// JobRuns counts the runs of jobs in this process.
func (s *Store) JobRuns() []jobs.Runs { return s.jobs.Runs() }

// LimitsAlone reports whether the counts of limits could not be exchanged with other servers
// the last time.
func (s *Store) LimitsAlone() bool { return s.limits.failed.Load() }
