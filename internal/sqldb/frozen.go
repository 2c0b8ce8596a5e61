package sqldb

import "context"

// Frozen runs fn on a database that nobody can write until fn returns. Other writers wait, and
// then get the error of a database that is busy. fn reads the database itself, so a server must not work on it:
// one that does, on PostgreSQL from any data folder, is a conflict ([CodeInUse]).
func (db *DB) Frozen(ctx context.Context, fn func(*Content) error) error {
	t, err := db.begin(ctx, sessionLimits(db.options)) // on SQLite, that takes the write lock
	if err != nil {
		return db.wrap(err)
	}
	defer t.rollback()
	if db.engine == Postgres {
		if _, err := t.sql.ExecContext(ctx, "SET LOCAL idle_in_transaction_session_timeout = 0"); err != nil {
			return db.wrap(err)
		}
		if err := db.lockTables(ctx, t); err != nil {
			return db.wrap(err)
		}
	}
	return db.content(ctx, t.sql, fn)
}

// lockTables lets nobody write the tables until the transaction ends.
func (db *DB) lockTables(ctx context.Context, t *transaction) error {
	if err := checkUnused(ctx, t.sql); err != nil {
		return err
	}
	c, err := db.contentOn(ctx, t.sql, db.options.ownTables)
	if err != nil || len(c.Tables) == 0 {
		return err
	}
	names := Convert(c.Tables, func(t Table) string { return t.Name })
	_, err = t.sql.ExecContext(ctx, "LOCK TABLE "+quoteAll(names)+" IN SHARE MODE")
	return err
}
