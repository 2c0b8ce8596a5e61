package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// buildPostgres makes the tables by the migrations and fills them, in one transaction. clear removes
// those that are there, or refuses to.
func buildPostgres(ctx context.Context, o Options, b Build, clear func(*postgresLoad, context.Context) error) error {
	db, err := Open(ctx, o)
	if err != nil {
		return err
	}
	defer db.Close()
	pool := db.primary.openPool(lockWait)
	defer pool.Close()
	conn, err := pool.Conn(ctx)
	if err != nil {
		return db.wrap(err)
	}
	defer conn.Close()
	return db.wrap(conn.Raw(func(raw any) error {
		inner := raw.(*stdlib.Conn)
		tx, err := inner.Conn().Begin(ctx)
		if err != nil {
			return err
		}
		defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // after a commit it does nothing
		l := &postgresLoad{conn: inner.Conn(), pool: sql.OpenDB(nestedConnector{inner}), shared: db.shared}
		defer l.pool.Close()
		if err := l.exec(ctx, "SET LOCAL idle_in_transaction_session_timeout = 0"); err != nil { // Fill also writes files
			return err
		}
		if err := l.build(ctx, b, clear); err != nil {
			return err
		}
		if err := tx.Commit(ctx); err != nil {
			return fault.WithCause(fault.Unavailable(countersign.CodeOutcomeUnknown, "The database did not confirm the commit"), err)
		}
		return nil
	}))
}

// postgresLoad loads in a transaction of PostgreSQL.
type postgresLoad struct {
	conn *pgx.Conn
	// pool has the same connection. A transaction in it is a savepoint.
	pool   *sql.DB
	shared *shared
}

func (l *postgresLoad) build(ctx context.Context, b Build, clear func(*postgresLoad, context.Context) error) error {
	if err := l.exec(ctx, fmt.Sprintf(`SELECT pg_advisory_xact_lock(%d)`, migrationsLock)); err != nil {
		return err
	}
	if err := checkUnused(ctx, l.pool); err != nil {
		return err
	}
	if err := clear(l, ctx); err != nil {
		return err
	}
	if err := l.shared.options.migrateTo(ctx, Postgres, l.pool, b.Versions); err != nil {
		return err
	}
	if err := l.fill(ctx, b); err != nil || b.Finish == nil {
		return err
	}
	return b.Finish(l.shared.built(l.pool))
}

// fill fills the tables, which have no references and no triggers meanwhile.
func (l *postgresLoad) fill(ctx context.Context, b Build) error {
	c, err := l.Content(ctx)
	if err != nil {
		return err
	}
	names := Convert(c.Tables, func(t Table) string { return t.Name })
	restore, err := l.dropReferences(ctx, names)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := l.exec(ctx, "ALTER TABLE "+quote(name)+" DISABLE TRIGGER USER"); err != nil {
			return err
		}
	}
	if len(names) > 0 {
		if err := l.exec(ctx, "TRUNCATE "+quoteAll(names)); err != nil { // of what migrations wrote
			return err
		}
	}
	if err := b.Fill(l); err != nil {
		return err
	}
	for _, name := range names {
		restore = append(restore, "ALTER TABLE "+quote(name)+" ENABLE TRIGGER USER")
	}
	for _, statement := range restore {
		if err := l.exec(ctx, statement); err != nil {
			return contentError(err)
		}
	}
	return l.setSequences(ctx, names, b.Sequences)
}

func (l *postgresLoad) exec(ctx context.Context, statement string) error {
	_, err := l.conn.Exec(ctx, statement)
	return err
}

// serversLock is the number of the lock on PostgreSQL that the servers on a database share, while
// they listen for changes.
const serversLock = 0x73657276 // "serv"

// checkUnused is a conflict when a server, of any data folder and any user of PostgreSQL, uses the
// database. Users do not see the statements of each other, but all locks.
func checkUnused(ctx context.Context, on runner) error {
	var servers int64
	err := on.QueryRowContext(ctx, `SELECT count(*) FROM pg_locks JOIN pg_database d ON d.oid = database
		WHERE datname = current_database() AND locktype = 'advisory' AND classid = 0 AND objid = $1 AND objsubid = 1`, serversLock).Scan(&servers)
	if err == nil && servers > 0 {
		err = fault.Conflict(CodeInUse, "A server uses the PostgreSQL database")
	}
	return err
}

// dropTables drops the tables that the schemas have at the versions of the database, and the
// functions of their triggers. Other tables stay.
func (l *postgresLoad) dropTables(ctx context.Context) error {
	c, err := l.Content(ctx)
	if err != nil || len(c.Versions) == 0 {
		return err
	}
	names := Convert(c.Tables, func(t Table) string { return t.Name })
	functions, err := list(ctx, l.pool, Value[string], `SELECT DISTINCT t.tgfoid::regprocedure::text FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
		WHERE NOT t.tgisinternal AND c.relnamespace = current_schema()::regnamespace AND c.relname = ANY ($1)`, names)
	if err != nil {
		return err
	}
	for schema := range c.Versions {
		names = append(names, versionTable(schema))
	}
	if err := l.exec(ctx, "DROP TABLE "+quoteAll(names)); err != nil {
		return err
	}
	for _, f := range functions {
		if err := l.exec(ctx, "DROP FUNCTION "+f); err != nil {
			return err
		}
	}
	return nil
}

// dropReferences drops the foreign keys of tables, and returns the statements that make them again.
func (l *postgresLoad) dropReferences(ctx context.Context, tables []string) (restore []string, err error) {
	keys, err := list(ctx, l.pool, scanDefinition, `SELECT c.relname::text, k.conname::text, pg_get_constraintdef(k.oid)
		FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
		WHERE k.contype = 'f' AND c.relnamespace = current_schema()::regnamespace`)
	for _, k := range keys {
		if err != nil || !slices.Contains(tables, k.kind) {
			continue
		}
		err = l.exec(ctx, "ALTER TABLE "+quote(k.kind)+" DROP CONSTRAINT "+quote(k.name))
		restore = append(restore, "ALTER TABLE "+quote(k.kind)+" ADD CONSTRAINT "+quote(k.name)+" "+k.text)
	}
	return restore, err
}

// setSequences lets tables that number their rows go on above the numbers given before.
func (l *postgresLoad) setSequences(ctx context.Context, tables []string, sequences map[string]int64) error {
	owned, err := list(ctx, l.pool, scanSequence, selectSequences)
	for _, s := range owned {
		if err != nil || !slices.Contains(tables, s.table) {
			continue
		}
		err = l.exec(ctx, "SELECT setval('"+quote(s.name)+"', greatest((SELECT max("+quote(s.column)+") FROM "+quote(s.table)+"), "+
			strconv.FormatInt(sequences[s.table], 10)+", 0) + 1, false)")
	}
	return err
}

// Table is that of [Load].
func (l *postgresLoad) Table(ctx context.Context, t Table, next func() ([]any, error)) error {
	types, err := columnTypes(ctx, l.pool, Postgres, t)
	if err != nil {
		return err
	}
	var failed error
	_, err = l.conn.CopyFrom(ctx, pgx.Identifier{t.Name}, t.Columns, pgx.CopyFromFunc(func() ([]any, error) {
		values, err := next()
		if err == nil && values != nil {
			err = convertRow(t, types, values)
		}
		failed = err
		return values, err
	}))
	switch {
	case failed != nil:
		return failed
	case isContentError(err):
		return badContent(fmt.Errorf("table %s: %w", t.Name, err))
	}
	return err
}

// Content is that of [Load].
func (l *postgresLoad) Content(ctx context.Context) (*Content, error) {
	return l.shared.contentOn(ctx, l.pool, l.shared.options.ownTables)
}

// nestedConnector makes connections of one that is in a transaction.
type nestedConnector struct{ conn *stdlib.Conn }

// Connect is that of [driver.Connector].
func (c nestedConnector) Connect(context.Context) (driver.Conn, error) {
	return nestedConn{c.conn}, nil
}

// Driver is that of [driver.Connector].
func (c nestedConnector) Driver() driver.Driver { return stdlib.GetDefaultDriver() }

// nestedConn is a connection in a transaction. Its own transactions are savepoints, and its end is
// not that of the connection.
type nestedConn struct{ *stdlib.Conn }

// Close does nothing.
func (nestedConn) Close() error { return nil }

// ResetSession does nothing.
func (nestedConn) ResetSession(context.Context) error { return nil }

// Begin is that of [driver.Conn].
func (c nestedConn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

// BeginTx is that of [driver.ConnBeginTx].
func (c nestedConn) BeginTx(ctx context.Context, _ driver.TxOptions) (driver.Tx, error) {
	tx := nestedTx{c.Conn.Conn()}
	return tx, tx.exec(ctx, "SAVEPOINT nested")
}

// nestedTx is a savepoint.
type nestedTx struct{ conn *pgx.Conn }

// Commit is that of [driver.Tx].
func (t nestedTx) Commit() error { return t.exec(context.Background(), "RELEASE SAVEPOINT nested") }

// Rollback is that of [driver.Tx].
func (t nestedTx) Rollback() error {
	return errors.Join(t.exec(context.Background(), "ROLLBACK TO SAVEPOINT nested"), t.Commit())
}

func (t nestedTx) exec(ctx context.Context, statement string) error {
	if _, err := t.conn.Exec(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}
