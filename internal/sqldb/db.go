package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"
)

// Engine names a database engine.
type Engine string

// The two engines.
const (
	SQLite   Engine = "sqlite"
	Postgres Engine = "postgres"
)

// Schema is a named list of migrations. Every package that owns tables has one;
// its applied versions are kept in the table <Name>_versions.
type Schema struct {
	Name  string
	Files fs.FS
	// Folder is where in Files the migrations lie; "" is "migrations".
	Folder string
	// Before is work that is done before a step, by the step's version: what is too
	// much for one transaction.
	Before map[int64]Work
}

// Work is done on a session, in as many transactions as it needs, and tells progress
// how many rows of how many are done. It may be ended at any time, also by a crash, and
// is begun again until the step behind it was made.
type Work func(ctx context.Context, session *DB, progress func(done, total int64)) error

// Options names the database to open and the owner of its tables.
type Options struct {
	// URL of a PostgreSQL database. Empty means SQLite at Path.
	URL string
	// Path of the SQLite file. It is made when it is missing.
	Path string
	// NoCreate does not make a missing SQLite file, which looks like an empty database
	// then. One that is there is opened as always.
	NoCreate bool
	// Relaxed lets a power cut take the last commits of a SQLite file, which are not
	// counted either: for a log, which is written often. What is left is whole.
	Relaxed bool
	// Schemas in the order in which they are migrated, after sqldb's own.
	Schemas []Schema
	// Progress is told how far the work of a migration is, in rows; nil for nobody.
	Progress func(done, total int64)
	// Log is notified of a lost feed, of damage and of writes that were switched off.
	Log *slog.Logger
	// Lock is the server's lock of the data folder, nil for a program that takes none.
	// [DB.Close] notes in it whether the server stopped cleanly.
	Lock *FolderLock
	// Longer is added to what is allowed for an answer of PostgreSQL, where a slow
	// machine does not mean that it is gone.
	Longer time.Duration
}

// DB is an open database. Its methods may be called from many goroutines.
type DB struct {
	*shared
	read    *sql.DB
	write   *sql.DB
	writers *writers // those of write
	limits  limits
	session bool
}

// shared is what a DB and its sessions have in common.
type shared struct {
	engine      Engine
	options     Options
	watchers    watchers
	snapshots   snapshots
	writesOff   atomic.Pointer[stopReason]
	writeFaults writeFaults
	commits     commits
	files       []openFile
	// checkDue reports that the file was not checked since an unclean stop.
	checkDue atomic.Bool
	// unmapped reports that lookups read the file itself, not through memory.
	unmapped atomic.Bool
	// logDue asks for a checkpoint.
	logDue chan struct{}
	// primary is the server of PostgreSQL, nil on SQLite.
	primary      *primary
	feed         feedState
	queryTimeout time.Duration
	readTimeout  time.Duration
}

// reachable is the error of a PostgreSQL that is known to be out of reach.
func (s *shared) reachable() error {
	if s.primary == nil {
		return nil
	}
	return s.primary.err()
}

// withConn calls fn with something that answers outside a transaction, and a
// context that bounds the wait for one answer. SQLite is bounded by its busy
// timeout.
func (db *DB) withConn(ctx context.Context, fn func(context.Context, runner) error) error {
	if db.engine == SQLite {
		return fn(ctx, db.read)
	}
	if err := db.reachable(); err != nil {
		return err
	}
	ctx, leave := context.WithTimeout(ctx, db.readTimeout)
	defer leave()
	conn, err := db.read.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(ctx, db.queryTimeout)
	defer cancel()
	return fn(ctx, conn)
}

// Open opens the database. It creates a missing SQLite file but no table, and
// it does not wait for PostgreSQL: a server that is down shows in the first
// query, as [countersign.KindUnavailable].
func Open(ctx context.Context, o Options) (*DB, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Schemas = append([]Schema{ownSchema}, o.Schemas...)
	s := &shared{
		engine: SQLite, options: o, logDue: make(chan struct{}, 1), commits: commits{due: make(chan struct{}, 1)},
		queryTimeout: queryTimeout + o.Longer, readTimeout: readTimeout + o.Longer,
	}
	if o.URL != "" {
		s.engine = Postgres
		return openPostgres(s)
	}
	return openSQLite(ctx, s)
}

// Has reports whether the database was opened with a schema of this name.
func (db *DB) Has(schema string) bool {
	return slices.ContainsFunc(db.options.Schemas, func(s Schema) bool { return s.Name == schema })
}

// Engine returns the engine of the database.
func (db *DB) Engine() Engine { return db.engine }

// Close ends all connections. Call it after everything that uses db has ended. Commits
// whose outcome nobody waited for get a moment to end. The connection of one that does
// not is left to the end of the process: the server takes that for no wish to have the
// commit ended.
func (db *DB) Close() error {
	db.writers.awaitCommits(closeWait)
	db.lastCommits()
	err := db.closePools()
	if err == nil && !db.checkDue.Load() && db.writesOff.Load() == nil {
		err = db.options.Lock.markClean()
	}
	return err
}

func (db *DB) closePools() error {
	if db.primary != nil {
		db.primary.close()
	}
	if db.read == db.write {
		return db.write.Close()
	}
	// The writer goes last: SQLite folds the log into the file when the last
	// connection that can write is closed.
	return errors.Join(db.snapshots.close(), db.read.Close(), db.write.Close())
}

// Ping asks the database for a sign of life.
func (db *DB) Ping(ctx context.Context) error {
	return db.wrap(db.withConn(ctx, func(ctx context.Context, on runner) error {
		var one int
		return on.QueryRowContext(ctx, "SELECT 1").Scan(&one)
	}))
}

// Session calls fn with a database that has one connection of its own, on which
// temporary tables live until fn returns. Filling them takes no write lock.
// Rows must be read to their end before the next statement.
func (db *DB) Session(ctx context.Context, fn func(*DB) error) error {
	pool, err := db.openSession()
	if err != nil {
		return err
	}
	session := &DB{shared: db.shared, read: pool, write: pool, writers: newWriters(pool, 1), limits: sessionLimits(db.options), session: true}
	defer pool.Close()
	defer session.writers.awaitCommits(closeWait)
	return fn(session)
}

func (db *DB) openSession() (*sql.DB, error) {
	if db.engine == Postgres {
		return db.primary.openPool(0), nil
	}
	return openSQLitePool(sessionDSN(db.options.Path, db.options.Relaxed), db.checkFiles)
}
