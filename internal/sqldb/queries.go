package sqldb

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// Row is the current row of a result.
type Row interface {
	Scan(dest ...any) error
}

// Queries runs statements: inside a transaction when it was handed to the
// function of [DB.Tx], on the pools otherwise. The query packages embed it.
type Queries struct {
	db *DB
	tx *transaction
}

// Queries returns queries that run outside a transaction.
func (db *DB) Queries() Queries { return Queries{db: db} }

// DB is the database behind q.
func (q Queries) DB() *DB { return q.db }

// Lock makes others who lock or change the rows of a table whose column has one of the
// values wait until the transaction ends. It locks them in the order of the column.
// Read the rows after it: a statement that locks and
// reads at once sees what it joins as it was before the wait. On SQLite nobody else
// writes while a transaction runs.
func (q Queries) Lock(ctx context.Context, table, column string, values ...any) error {
	if q.db.engine == SQLite {
		return nil
	}
	// Not FOR UPDATE, which would also keep others from writing rows that refer to it.
	_, err := q.Exec(ctx, `SELECT 1 FROM `+table+` WHERE `+column+` IN `+Placeholders(1, len(values), 1)+` ORDER BY `+column+` FOR NO KEY UPDATE`, values...)
	return err
}

// Locked reads what belongs to a value of a column, after [Queries.Lock] of its row.
func Locked[K, T any](ctx context.Context, q Queries, table, column string, value K, read func(context.Context, K) (T, error)) (row T, err error) {
	if err := q.Lock(ctx, table, column, value); err != nil {
		return row, err
	}
	return read(ctx, value)
}

// Placeholders returns the argument list of rows for VALUES, numbered from first: ($1,$2),($3,$4) for two rows of two
// columns from 1.
func Placeholders(rows, columns, first int) string {
	var list strings.Builder
	for i := range rows * columns {
		separator := ","
		switch {
		case i == 0:
			separator = "("
		case i%columns == 0:
			separator = "),("
		}
		fmt.Fprintf(&list, "%s$%d", separator, first+i)
	}
	return list.String() + ")"
}

// One reads the single row of a query, or [ErrNotFound].
func One[T any](ctx context.Context, q Queries, scan func(Row) (T, error), query string, args ...any) (T, error) {
	q.noteWrite(!strings.HasPrefix(query, "SELECT"))
	var value T
	err := q.withConn(ctx, func(ctx context.Context, on runner) (err error) {
		value, err = scan(on.QueryRowContext(ctx, query, args...))
		return err
	})
	if err != nil {
		var none T
		return none, q.db.wrap(err)
	}
	return value, nil
}

// List reads all rows of a query.
func List[T any](ctx context.Context, q Queries, scan func(Row) (T, error), query string, args ...any) ([]T, error) {
	q.noteWrite(!strings.HasPrefix(query, "SELECT"))
	var all []T
	err := q.withConn(ctx, func(ctx context.Context, on runner) (err error) {
		all, err = list(ctx, on, scan, query, args...)
		return err
	})
	if err != nil {
		return nil, q.db.wrap(err)
	}
	return all, nil
}

// Each calls fn with every row of a query, in constant memory. An error of fn
// ends it.
func Each[T any](ctx context.Context, q Queries, scan func(Row) (T, error), fn func(T) error, query string, args ...any) error {
	on := runner(q.db.read)
	if q.tx != nil {
		on = q.tx.sql
	}
	return q.db.wrap(each(ctx, on, scan, fn, query, args...))
}

func each[T any](ctx context.Context, on runner, scan func(Row) (T, error), fn func(T) error, query string, args ...any) error {
	rows, err := on.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		value, err := scan(rows)
		if err != nil {
			return err
		}
		if err := fn(value); err != nil {
			return err
		}
	}
	return rows.Err()
}

// list reads all rows of a query.
func list[T any](ctx context.Context, on runner, scan func(Row) (T, error), query string, args ...any) (all []T, err error) {
	err = each(ctx, on, scan, func(value T) error {
		all = append(all, value)
		return nil
	}, query, args...)
	return all, err
}

// Convert returns what convert makes of each row.
func Convert[A, B any](rows []A, convert func(A) B) []B {
	list := make([]B, len(rows))
	for i, row := range rows {
		list[i] = convert(row)
	}
	return list
}

// Value scans a single column, for [One] and [List].
func Value[T any](r Row) (T, error) {
	var v T
	err := r.Scan(&v)
	return v, err
}

// Exec runs a statement and returns how many rows it changed. Outside a transaction it
// gets one of its own, but not in a session, whose temporary tables need none.
func (q Queries) Exec(ctx context.Context, query string, args ...any) (changed int64, err error) {
	if q.tx == nil && !q.db.session {
		err = q.db.Tx(ctx, func(q Queries) error {
			changed, err = q.Exec(ctx, query, args...)
			return err
		})
		return changed, err
	}
	on := runner(q.db.write)
	if q.tx != nil {
		var cancel context.CancelFunc
		ctx, cancel = q.tx.bound(ctx)
		defer cancel()
		on = q.tx.sql
	}
	result, err := on.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, q.db.wrap(err)
	}
	changed, err = result.RowsAffected()
	q.noteWrite(changed > 0)
	return changed, err
}

// runner is what a pool and a transaction have in common.
type runner interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// withConn calls fn with something that answers, and a context that bounds the
// wait for one answer, if it has a bound: in a session a statement may take long, an
// import moves a million rows.
func (q Queries) withConn(ctx context.Context, fn func(context.Context, runner) error) error {
	if q.tx != nil {
		ctx, cancel := q.tx.bound(ctx)
		defer cancel()
		return fn(ctx, q.tx.sql)
	}
	return q.db.withConn(ctx, fn)
}

// noteWrite notes that a transaction may have changed a row.
func (q Queries) noteWrite(wrote bool) {
	if wrote && q.tx != nil {
		q.tx.wrote = true
	}
}
