package sqldb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

var errNotInTx = errors.New("sqldb: Append runs in a transaction only")

// Append adds many rows to a table inside a transaction, at the least cost that an engine
// has: on SQLite through one prepared statement of the driver, on PostgreSQL through COPY.
// fill sets the values of row i, in the order of the columns, to int64 and string.
//
// SQLite leaves out a row whose key exists; on PostgreSQL that is an error.
func (q Queries) Append(ctx context.Context, table string, columns []string, rows int, fill func(i int, values []any)) error {
	if q.tx == nil || q.tx.conn == nil {
		return errNotInTx
	}
	if rows == 0 {
		return nil
	}
	ctx, cancel := q.tx.bound(ctx)
	defer cancel()
	q.noteWrite(true)
	return q.db.wrap(q.tx.conn.Raw(func(conn any) error {
		if q.db.engine == SQLite {
			return appendSQLite(ctx, conn.(*stmtCacheConn), table, columns, rows, fill)
		}
		return appendPostgres(ctx, conn.(*stdlib.Conn).Conn(), table, columns, rows, fill)
	}))
}

// appendSQLite speaks to the driver itself: database/sql would convert and copy every
// value, which costs more than to insert it.
func appendSQLite(ctx context.Context, conn *stmtCacheConn, table string, columns []string, rows int, fill func(int, []any)) error {
	// Arguments without a name: the driver looks every name up, for every row.
	arguments := strings.Repeat(", ?", len(columns))[2:]
	query := fmt.Sprintf("INSERT OR IGNORE INTO %s (%s) VALUES (%s)", table, strings.Join(columns, ", "), arguments)
	stmt, err := conn.PrepareContext(ctx, query)
	if err != nil {
		return err
	}
	defer stmt.Close()
	values, named := make([]any, len(columns)), make([]driver.NamedValue, len(columns))
	for i := range rows {
		fill(i, values)
		for j, v := range values {
			named[j] = driver.NamedValue{Ordinal: j + 1, Value: v}
		}
		if _, err := stmt.(sqliteStmt).ExecContext(ctx, named); err != nil {
			return err
		}
	}
	return nil
}

func appendPostgres(ctx context.Context, conn *pgx.Conn, table string, columns []string, rows int, fill func(int, []any)) error {
	i, values := 0, make([]any, len(columns))
	_, err := conn.CopyFrom(ctx, pgx.Identifier{table}, columns, pgx.CopyFromFunc(func() ([]any, error) {
		if i == rows {
			return nil, nil
		}
		fill(i, values)
		i++
		return values, nil
	}))
	return err
}
