package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// bulkRows is how many rows PostgreSQL is sent at once.
const bulkRows = 2000

// Bulk appends many rows to a temporary table of a session: on SQLite through
// one prepared statement, on PostgreSQL through COPY.
type Bulk struct {
	db      *DB
	table   string
	columns []string
	stmt    *sql.Stmt
	rows    [][]any
}

// Bulk begins a load into a table. End it with Flush.
func (db *DB) Bulk(table string, columns ...string) *Bulk {
	return &Bulk{db: db, table: table, columns: columns}
}

// Add appends one row, its values in the order of the columns.
func (b *Bulk) Add(ctx context.Context, values ...any) error {
	if b.db.engine == SQLite {
		return b.insert(ctx, values)
	}
	for i, v := range values {
		if valuer, ok := v.(driver.Valuer); ok {
			plain, err := valuer.Value()
			if err != nil {
				return err
			}
			values[i] = plain
		}
	}
	b.rows = append(b.rows, values)
	if len(b.rows) < bulkRows {
		return nil
	}
	return b.copyRows(ctx)
}

// Flush writes what is still held back.
func (b *Bulk) Flush(ctx context.Context) error {
	if b.stmt != nil {
		err := b.stmt.Close()
		b.stmt = nil
		return b.db.wrap(err)
	}
	return b.copyRows(ctx)
}

func (b *Bulk) insert(ctx context.Context, values []any) error {
	if b.stmt == nil {
		query := fmt.Sprintf("INSERT INTO %s (%s) VALUES %s", b.table, strings.Join(b.columns, ", "), Placeholders(1, len(b.columns), 1))
		stmt, err := b.db.write.PrepareContext(ctx, query)
		if err != nil {
			return b.db.wrap(err)
		}
		b.stmt = stmt
	}
	_, err := b.stmt.ExecContext(ctx, values...)
	return b.db.wrap(err)
}

func (b *Bulk) copyRows(ctx context.Context) error {
	if len(b.rows) == 0 {
		return nil
	}
	conn, err := b.db.write.Conn(ctx)
	if err != nil {
		return b.db.wrap(err)
	}
	defer conn.Close()
	err = conn.Raw(func(driverConn any) error {
		_, err := driverConn.(*stdlib.Conn).Conn().CopyFrom(ctx, pgx.Identifier{b.table}, b.columns, pgx.CopyFromRows(b.rows))
		return err
	})
	b.rows = b.rows[:0]
	return b.db.wrap(err)
}
