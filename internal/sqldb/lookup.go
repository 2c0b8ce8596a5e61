package sqldb

import (
	"context"
	"database/sql"
	"sync"
)

// Lookup is one SELECT of at most one row for the read that everything waits
// for. It is the single place below the common text of SQL: on PostgreSQL a
// prepared statement, on SQLite a prepared statement on readers that hold a
// snapshot open, which saves most of what a small query costs.
type Lookup struct {
	db      *DB
	query   string
	mu      sync.RWMutex
	stmt    *sql.Stmt // PostgreSQL
	readers *readers  // SQLite
}

// Lookup prepares query at its first use, so that a database that is down at
// the start is no error here. Its columns are text, integers, booleans and
// times.
func (db *DB) Lookup(query string) *Lookup {
	l := &Lookup{db: db, query: query}
	if db.engine == SQLite {
		l.readers = newReaders(db.shared, query)
		db.snapshots.add(l.readers)
	}
	return l
}

// Row reads the row with a blob and a number as arguments into dest, pointers to
// string, int64, bool and [Time]; [ErrNotFound] when there is none.
func (l *Lookup) Row(ctx context.Context, blob []byte, number int64, dest ...any) error {
	if l.readers != nil {
		return l.db.wrap(l.readers.row(ctx, blob, number, dest))
	}
	ctx, cancel := l.db.patient(ctx)
	defer cancel()
	stmt, err := l.prepared(ctx)
	if err != nil {
		return l.db.wrap(err)
	}
	return l.db.wrap(stmt.QueryRowContext(ctx, blob, number).Scan(dest...))
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
