package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/countersign/countersign/internal/group"
	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// maxStatements is how many statements one connection to SQLite caches. The texts
// are constants of the query packages; those that are put together are few.
const maxStatements = 200

// openSQLitePool opens a pool on SQLite whose connections keep the statements that
// they have prepared: to read the text of one costs more than to run most of them.
// check is asked before each connection is made.
func openSQLitePool(dsn string, check func() error) (*sql.DB, error) {
	connector, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, fmt.Errorf("sqldb: open: %w", err)
	}
	return sql.OpenDB(stmtCacheConnector{connector, check}), nil
}

// stmtCacheConnector creates the connections of a pool.
type stmtCacheConnector struct {
	driver.Connector
	check func() error
}

// Connect is that of [driver.Connector].
func (k stmtCacheConnector) Connect(ctx context.Context) (driver.Conn, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	conn, err := k.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &stmtCacheConn{sqliteConn: conn.(sqliteConn), stmts: make(map[string]*cachedStmt)}, nil
}

// sqliteConn is what a connection of the driver can do.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

type stmtCacheConn struct {
	sqliteConn
	stmts map[string]*cachedStmt
}

// cachedStmt is a prepared statement; while its rows are open it can't be run again.
type cachedStmt struct {
	stmt sqliteStmt
	open bool
}

// sqliteStmt is what a statement of the driver can do.
type sqliteStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// statement returns the statement of a text that is cached from now on; ok is false
// when there can be none now.
func (c *stmtCacheConn) statement(ctx context.Context, query string) (s *cachedStmt, ok bool, err error) {
	if s = c.stmts[query]; s != nil {
		return s, !s.open, nil
	}
	if len(c.stmts) == maxStatements {
		return nil, false, nil
	}
	stmt, err := c.PrepareContext(ctx, query)
	if err != nil {
		return nil, false, err
	}
	s = &cachedStmt{stmt: stmt.(sqliteStmt)}
	c.stmts[query] = s
	return s, true, nil
}

// ExecContext is that of [driver.ExecerContext].
func (c *stmtCacheConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (result driver.Result, err error) {
	if len(args) == 0 { // a PRAGMA, a script, or what is done once
		err = whileBusy(ctx, func() error {
			result, err = c.sqliteConn.ExecContext(ctx, query, args)
			return err
		})
		return result, err
	}
	s, ok, err := c.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	if !ok {
		return c.sqliteConn.ExecContext(ctx, query, args)
	}
	return s.stmt.ExecContext(ctx, args)
}

// QueryContext is that of [driver.QueryerContext].
func (c *stmtCacheConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if len(args) == 0 {
		return c.sqliteConn.QueryContext(ctx, query, args)
	}
	s, ok, err := c.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	if !ok {
		return c.sqliteConn.QueryContext(ctx, query, args)
	}
	rows, err := s.stmt.QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}
	s.open = true
	return &cachedRows{rows, s}, nil
}

// BeginTx is that of [driver.ConnBeginTx]. It waits for other writers until ctx ends.
func (c *stmtCacheConn) BeginTx(ctx context.Context, o driver.TxOptions) (tx driver.Tx, err error) {
	err = whileBusy(ctx, func() error {
		tx, err = c.sqliteConn.BeginTx(context.WithoutCancel(ctx), o) // as for transaction.whole
		return err
	})
	return tx, err
}

// busyLast is the longest pause between two tries to get the write lock.
const busyLast = 25 * time.Millisecond

// whileBusy repeats what SQLite refuses because another process writes, until ctx ends
// or has been waited for as long as a session waits. SQLite's own wait can't be called
// off.
func whileBusy(ctx context.Context, try func() error) error {
	err := try()
	if !isBusy(err) {
		return err
	}
	last := time.Now().Add(sessionWait)
	for pause := time.Millisecond; isBusy(err) && time.Now().Before(last); pause = min(2*pause, busyLast) {
		if !group.Sleep(ctx, pause, nil) {
			return err
		}
		err = try()
	}
	return err
}

// isBusy reports whether another process stood in the way. A snapshot that is too old,
// which has a code of its own, stays so.
func isBusy(err error) bool {
	lite, ok := errors.AsType[*sqlite.Error](err)
	return ok && (lite.Code() == lib.SQLITE_BUSY || lite.Code() == lib.SQLITE_BUSY_RECOVERY)
}

// Close is that of [driver.Conn].
func (c *stmtCacheConn) Close() error {
	var errs []error
	for _, s := range c.stmts {
		errs = append(errs, s.stmt.Close())
	}
	clear(c.stmts)
	return errors.Join(append(errs, c.sqliteConn.Close())...)
}

// cachedRows are the rows of a cached statement.
type cachedRows struct {
	driver.Rows
	of *cachedStmt
}

// Close is that of [driver.Rows].
func (r *cachedRows) Close() error {
	r.of.open = false
	return r.Rows.Close()
}
