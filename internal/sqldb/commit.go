package sqldb

import (
	"context"
	"errors"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/group"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// pendingCommit is a COMMIT that was sent and has no answer yet.
type pendingCommit struct {
	*transaction
	ended bool // guarded by the mutex of writers
	done  chan error
}

// commit commits a transaction, whatever happens to ctx meanwhile: PostgreSQL ends the
// wait for a standby when the connection asks for it, and then shows everybody what a
// failover takes back.
func (db *DB) commit(ctx context.Context, t *transaction) error {
	if !t.release() {
		<-t.life.Done()
		return db.wrap(context.Cause(t.life))
	}
	t.committing = true
	c := &pendingCommit{transaction: t, done: make(chan error, 1)}
	if db.engine == SQLite {
		// It waits for nothing but the disk, and to hand it to another goroutine costs a
		// tenth of what a license costs.
		db.finish(c)
		return <-c.done
	}
	db.writers.commits.Go(func() { db.finish(c) })
	err, known := c.wait(ctx, db.limits.commit)
	if !known {
		db.writers.stall(c)
		if db.primary != nil && c.wire.generation != db.primary.generation.Load() {
			c.wire.hangUp() // the primary is another one by now
		}
		db.changed(t.marks) // it may be there already
		return db.writers.outcomeUnknown(err)
	}
	return err
}

// finish waits for the outcome, frees the connection and tells the watchers.
func (db *DB) finish(c *pendingCommit) {
	c.done <- db.outcome(group.Contain(db.options.Log, "commit", func() error {
		c.wire.beginCommit()
		err := c.wire.free(c.sql.Commit())
		db.writers.end(c)
		c.close()
		if err == nil {
			db.committed(c.transaction)
		}
		db.changed(c.marks)
		return err
	}))
}

// wait waits for the outcome. Where it stays unknown, err says why.
func (c *pendingCommit) wait(ctx context.Context, bound time.Duration) (err error, known bool) {
	var late <-chan time.Time
	if bound > 0 {
		timer := time.NewTimer(bound)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case err = <-c.done:
		return err, true
	case <-late:
		return context.DeadlineExceeded, false
	case <-ctx.Done():
	}
	timer := time.NewTimer(abandonedWait)
	defer timer.Stop()
	select {
	case err = <-c.done:
		return err, true
	case <-late:
	case <-timer.C:
	}
	return ctx.Err(), false
}

// outcome is the error of a commit that has ended.
func (db *DB) outcome(err error) error {
	if err == nil {
		return nil
	}
	wrapped := db.wrap(err) // it also switches writes off
	if isRefused(err) {
		return wrapped
	}
	return db.writers.outcomeUnknown(err)
}

// isRefused reports whether the error of a COMMIT means that nothing was written.
func isRefused(err error) bool {
	if errors.Is(err, pgx.ErrTxCommitRollback) {
		return true
	}
	if errors.Is(err, errNotReplicated) {
		return false
	}
	if lite, ok := errors.AsType[*sqlite.Error](err); ok {
		return lite.Code()&0xff != lib.SQLITE_IOERR
	}
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || len(pg.Code) < 2 {
		return false
	}
	switch pg.Code[:2] {
	case "08", "57", "58", "XX": // the connection, the operator, the system, a fault of the server's
		return false
	}
	return true
}

// outcomeUnknown is the error of a commit that may have happened.
func (w *writers) outcomeUnknown(cause error) error {
	w.unknown.Add(1)
	return fault.WithCause(fault.WithRetry(fault.Unavailable(countersign.CodeOutcomeUnknown, "The database has not confirmed the change; it may have been written"), retryAfter), cause)
}

// awaitCommits waits for the commits under way, at most for bound.
func (w *writers) awaitCommits(bound time.Duration) {
	timer := time.NewTimer(bound)
	defer timer.Stop()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.commits.Wait()
	}()
	select {
	case <-ended:
	case <-timer.C:
	}
}
