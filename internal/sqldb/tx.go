package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"time"
)

// transaction is an open transaction and what it changed that memory may hold.
type transaction struct {
	sql   *sql.Tx
	marks []change
	// wrote reports that a statement may have changed a row.
	wrote bool

	conn *sql.Conn
	wire *wire // its connection to PostgreSQL
	// life is the context of the connection's work. It ends with the caller's and at
	// the deadline, until release.
	life context.Context
	end  context.CancelCauseFunc
	// caller ends life with the caller's context when it is not stopped before.
	caller   func() bool
	deadline *time.Timer
	// until is the deadline of each statement, zero for none.
	until time.Time
	// answer bounds the wait for each statement's answer, 0 for no bound.
	answer time.Duration
	// whole reports that statements are not broken off when their context ends. To be able to,
	// SQLite's driver starts a goroutine for each, at a cost like that of a small statement.
	whole bool
	// committing reports that the connection belongs to the commit.
	committing bool
}

// Tx runs fn in one transaction: on SQLite the only writer, on PostgreSQL read
// committed. It commits when fn returns nil and rolls back otherwise. Before Tx
// returns, watchers of this process are notified of its marks, also if the outcome of
// the commit is unknown. fn may not call Tx.
//
// The wait in the queue of writers and the wait for the database share one deadline.
// After it the error is of kind Unavailable and nothing was written. The end of ctx
// rolls back, but never cancels a commit that was sent. When PostgreSQL does not answer
// the commit in time, or ctx has ended before it does, the error has the code
// [countersign.CodeOutcomeUnknown]. The database then continues the commit, and
// watchers are notified once more when it has ended. The error of a commit that failed,
// but may have happened, has the same code.
func (db *DB) Tx(ctx context.Context, fn func(Queries) error) error {
	if err := db.writable(); err != nil {
		return err
	}
	t, err := db.begin(ctx, db.limits)
	if err != nil {
		return db.wrap(err)
	}
	defer t.rollback()
	if err := fn(Queries{db: db, tx: t}); err != nil {
		return t.interrupted(err)
	}
	if err := db.countCommit(ctx, t); err != nil {
		return db.wrap(t.interrupted(err))
	}
	return db.commit(ctx, t)
}

// begin waits for a connection, and on SQLite for the write lock.
func (db *DB) begin(ctx context.Context, l limits) (*transaction, error) {
	if err := db.reachable(); err != nil {
		return nil, err
	}
	t := db.newTransaction(ctx, l)
	err := t.begin(db, l)
	if err == nil && t.until.IsZero() && !t.deadline.Stop() {
		err = context.Cause(t.life)
	}
	if err != nil {
		t.rollback()
		return nil, err
	}
	return t, nil
}

func (db *DB) newTransaction(ctx context.Context, l limits) *transaction {
	t := &transaction{whole: db.engine == SQLite && !db.session}
	t.life, t.end = context.WithCancelCause(context.WithoutCancel(ctx))
	t.caller = context.AfterFunc(ctx, func() { t.end(ctx.Err()) })
	if l.statements {
		t.until = time.Now().Add(l.begin)
	}
	t.deadline = time.AfterFunc(l.begin, func() { t.end(context.DeadlineExceeded) })
	return t
}

// begin begins the transaction on a connection of the pool. One that broke while
// nobody used it is left out.
func (t *transaction) begin(db *DB, l limits) (err error) {
	for range 3 {
		if t.conn, err = db.writers.take(t.life, l.queue); err != nil {
			return t.interrupted(err)
		}
		if t.sql, err = t.conn.BeginTx(t.life, nil); err == nil {
			t.wire = wireOf(db, t.conn)
			return nil
		}
		_ = t.conn.Close()
		t.conn = nil
		if !errors.Is(err, driver.ErrBadConn) {
			break
		}
	}
	return t.interrupted(err)
}

// bound returns ctx with the bound of one statement.
func (t *transaction) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	switch {
	case t.whole:
		return context.WithoutCancel(ctx), func() {}
	case !t.until.IsZero():
		return context.WithDeadline(ctx, t.until)
	case t.answer > 0:
		return context.WithTimeout(ctx, t.answer)
	}
	return ctx, func() {}
}

// release lets nothing end the transaction any more. It reports false when that has
// happened already.
func (t *transaction) release() bool {
	caller, deadline := t.caller(), t.deadline.Stop()
	return caller && (deadline || t.until.IsZero())
}

// rollback ends a transaction that is not being committed, and its connection's use.
func (t *transaction) rollback() {
	if t.committing {
		return
	}
	if t.sql != nil {
		_ = t.sql.Rollback() // of a connection that broke there is nothing left
	}
	t.close()
}

func (t *transaction) close() {
	if t.conn != nil {
		_ = t.conn.Close()
	}
	t.caller()
	t.deadline.Stop()
	t.end(nil)
}

// interrupted returns the reason for which the transaction's life ended, in place of an
// error that only says that it is over. A wait for others that passed the deadline stays one.
func (t *transaction) interrupted(err error) error {
	cause := context.Cause(t.life)
	switch {
	case cause == nil:
		return err
	case errors.Is(err, sql.ErrTxDone), errors.Is(err, context.Canceled):
		return cause
	case isBusy(err) && !errors.Is(cause, context.DeadlineExceeded):
		return cause
	}
	return err
}

// Snapshot runs fn on one view of the database: what others commit meanwhile
// does not show. It can't write.
func (db *DB) Snapshot(ctx context.Context, fn func(Queries) error) error {
	if db.engine == Postgres {
		return db.snapshotPostgres(ctx, fn)
	}
	tx, err := db.read.BeginTx(ctx, nil)
	if err != nil {
		return db.wrap(err)
	}
	defer tx.Rollback() //nolint:errcheck // nothing was written
	return fn(Queries{db: db, tx: &transaction{sql: tx}})
}

// snapshotPostgres waits for the begin as for an answer to a query.
func (db *DB) snapshotPostgres(ctx context.Context, fn func(Queries) error) error {
	if err := db.reachable(); err != nil {
		return err
	}
	life, end := context.WithCancelCause(ctx)
	defer end(nil)
	deadline := time.AfterFunc(db.readTimeout, func() { end(context.DeadlineExceeded) })
	defer deadline.Stop()
	tx, err := db.read.BeginTx(life, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err == nil && !deadline.Stop() {
		err = context.Canceled
	}
	if err != nil {
		if cause := context.Cause(life); cause != nil {
			err = cause
		}
		return db.wrap(err)
	}
	defer tx.Rollback() //nolint:errcheck // nothing was written
	return fn(Queries{db: db, tx: &transaction{sql: tx, answer: db.queryTimeout}})
}
