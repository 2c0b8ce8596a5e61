package sqldb

import (
	"context"
	"database/sql"
	"sync"
)

// Lookup is one prepared SELECT for the read that everything waits for. It is
// the single place below the common text of SQL.
type Lookup struct {
	db    *DB
	query string
	mu    sync.RWMutex
	stmt  *sql.Stmt
}

// Lookup prepares query at its first use, so that a database that is down at
// the start is no error here.
func (db *DB) Lookup(query string) *Lookup { return &Lookup{db: db, query: query} }

// Row reads the single row of a look-up into dest, or [ErrNotFound].
func (l *Lookup) Row(ctx context.Context, args []any, dest ...any) error {
	ctx, cancel := l.db.patient(ctx)
	defer cancel()
	stmt, err := l.prepared(ctx)
	if err != nil {
		return l.db.wrap(err)
	}
	return l.db.wrap(stmt.QueryRowContext(ctx, args...).Scan(dest...))
}

func (l *Lookup) prepared(ctx context.Context) (*sql.Stmt, error) {
	l.mu.RLock()
	stmt := l.stmt
	l.mu.RUnlock()
	if stmt != nil {
		return stmt, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stmt != nil {
		return l.stmt, nil
	}
	stmt, err := l.db.read.PrepareContext(ctx, l.query)
	if err == nil {
		l.stmt = stmt
	}
	return stmt, err
}
