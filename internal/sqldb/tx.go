package sqldb

import (
	"context"
	"database/sql"
	"errors"
)

// transaction is an open transaction and what it changed that memory may hold.
type transaction struct {
	sql   *sql.Tx
	marks []change
	// wrote reports that a statement may have changed a row.
	wrote bool
}

// Tx runs fn in one transaction: on SQLite the only writer, on PostgreSQL read
// committed. It commits when fn returns nil and rolls back otherwise. Watchers
// of this process have been told of its marks when Tx returns, also when the
// outcome of the commit is unknown. fn may not call Tx.
func (db *DB) Tx(ctx context.Context, fn func(Queries) error) error {
	if err := db.writable(); err != nil {
		return err
	}
	tx, err := db.write.BeginTx(ctx, nil)
	if err != nil {
		return db.wrap(err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit this does nothing
	t := &transaction{sql: tx}
	if err := fn(Queries{db: db, tx: t}); err != nil {
		return interrupted(ctx, err)
	}
	if err := db.countCommit(ctx, t); err != nil {
		return db.wrap(interrupted(ctx, err))
	}
	err = interrupted(ctx, tx.Commit())
	db.committed(t)
	db.changed(t.marks)
	return db.wrap(err)
}

// interrupted gives the end of ctx as the reason of an error that only says that
// the transaction is over.
func interrupted(ctx context.Context, err error) error {
	if errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// Snapshot runs fn on one view of the database: what others commit meanwhile
// does not show. It can't write.
func (db *DB) Snapshot(ctx context.Context, fn func(Queries) error) error {
	var options *sql.TxOptions
	if db.engine == Postgres {
		options = &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
	}
	tx, err := db.read.BeginTx(ctx, options)
	if err != nil {
		return db.wrap(err)
	}
	defer tx.Rollback() //nolint:errcheck // nothing was written
	return fn(Queries{db: db, tx: &transaction{sql: tx}})
}
