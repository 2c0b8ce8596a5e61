package sqldb

import "context"

// Lookup is one SELECT of at most one row for the read that everything waits
// for. It is the single place below the common text of SQL: on SQLite a prepared
// statement on readers that hold a snapshot open, which saves most of what a
// small query costs.
type Lookup struct {
	db      *DB
	query   string
	readers *readers // nil on PostgreSQL, whose driver prepares each text once a connection
}

// Lookup prepares query at its first use, so that a database that is down at
// the start is not an error here. Its columns are text, integers and booleans.
func (db *DB) Lookup(query string) *Lookup {
	l := &Lookup{db: db, query: query}
	if db.engine == SQLite {
		l.readers = newReaders(db.shared, query)
		db.snapshots.add(l.readers)
	}
	return l
}

// Row reads the row with two numbers as arguments into dest, pointers to
// string, []byte, int64 and bool; [ErrNotFound] when there is none. A NULL is an
// empty []byte.
func (l *Lookup) Row(ctx context.Context, a, b int64, dest ...any) error {
	if l.readers != nil {
		return l.db.wrap(l.readers.row(ctx, a, b, dest))
	}
	return l.db.wrap(l.db.withConn(ctx, func(ctx context.Context, on runner) error {
		return on.QueryRowContext(ctx, l.query, a, b).Scan(dest...)
	}))
}
