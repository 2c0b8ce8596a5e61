package health

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// Files are what metrics say of a data folder and its disk.
type Files struct {
	// FreeBytes is the free space of the disk, -1 where it can't be read.
	FreeBytes int64
	// LogBytes is the size of SQLite's write-ahead log, 0 on PostgreSQL.
	LogBytes int64
}

// MeasureFiles reads the figures of a data folder. It may wait for the disk.
func MeasureFiles(dir string, db *sqldb.DB) Files {
	free, err := freeBytes(dir)
	if err != nil {
		free = -1
	}
	return Files{free, db.LogBytes()}
}

// Rows are what metrics say of the content of a database.
type Rows struct {
	Jobs []jobs.Figures
	// Unsealed is how many entries of the audit log have no seal, and UnsealedFor for how
	// long the first of them.
	Unsealed    int64
	UnsealedFor time.Duration
	// ChecksFile reports that the server checks its database file: it is one of SQLite.
	ChecksFile bool
	// CheckedAt is when that file was last found to be intact, zero for never.
	CheckedAt time.Time
}

// MeasureRows reads the figures of a database. After a failed write it tries one first, so
// that the end of a fault is noticed.
func MeasureRows(ctx context.Context, db *sqldb.DB, queue *jobs.Queue, chain *people.AuditChain) (r Rows, err error) {
	db.ProbeWrites(ctx)
	if r.Jobs, err = queue.Figures(ctx); err != nil {
		return r, err
	}
	if r.Unsealed, r.UnsealedFor, err = chain.Unsealed(ctx); err != nil {
		return r, err
	}
	r.ChecksFile = db.Engine() == sqldb.SQLite
	r.CheckedAt, err = db.CheckedAt(ctx)
	return r, err
}
