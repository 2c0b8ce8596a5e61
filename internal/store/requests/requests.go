// Package requests is the log of API requests. Off the path of the request, the calls of about a
// second are written as a block: in columns, compressed, with a filter of what they are about. Blocks
// are kept for a time and up to a number of calls. They never hold a key, a purchase code, a query
// string or a body.
package requests

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// DatabaseName is the SQLite file's name in the data folder.
const DatabaseName = "requests.db"

//go:embed migrations/*.sql
var files embed.FS

// schema is the migrations of the log. Its tables are in a SQLite file of their own, and in the
// database of the store on PostgreSQL.
var schema = sqldb.Schema{Name: "request_log", Files: files}

// Keep says how much of the log is kept.
type Keep struct {
	// For is the age at which calls are dropped; 0 logs nothing.
	For time.Duration
	// Calls is how many are kept at most.
	Calls int64
}

// DefaultKeep is 30 days and ten million calls.
var DefaultKeep = Keep{For: 30 * 24 * time.Hour, Calls: 10_000_000}

// Options describes the location of a log, and how much of it is kept.
type Options struct {
	// Dir is the data folder, in which the SQLite file is.
	Dir string
	// URL of a PostgreSQL database; empty for SQLite in Dir.
	URL string
	// Keep is that of the server that writes the log.
	Keep Keep
	Now  func() time.Time
	Log  *slog.Logger
	// Longer is that of [sqldb.Options].
	Longer time.Duration
	// See is an error unless an actor may see the calls of a workspace; 0 is all calls.
	See func(ctx context.Context, a people.Actor, workspace int64) error
}

// Log is the log of API requests. Its methods may be called from many goroutines.
type Log struct {
	options Options

	opening sync.RWMutex
	db      *sqldb.DB // nil until it is needed
	made    bool      // its tables are those of this version

	mu      sync.Mutex
	waiting []Entry
	spare   []Entry
	gap     Gap           // since the last that was written
	half    chan struct{} // says that half of the buffer is full

	// What follows is of Run alone.
	encoder    *encoder
	unwritten  []Entry
	attempts   int
	counts     counts // that are not written
	small      int    // blocks that were written since they were merged
	lastPrune  time.Time
	prunedAt   int64 // the number of written calls then
	converted  bool  // nothing is left of the log of earlier versions
	lastReopen time.Time
	lastWarn   time.Time
	ending     bool // the next batch is the last

	written atomic.Int64
	dropped atomic.Int64
	failure atomic.Pointer[Failure]
}

// New returns the log at a location. It opens nothing: the log is read where it is, and
// made by [Log.Run].
func New(o Options) *Log {
	return &Log{
		options: o, half: make(chan struct{}, 1), encoder: newEncoder(o.Keep.blockCalls()), counts: newCounts(time.Time{}),
		small: smallBlocks, // a process before may have left some
	}
}

// On reports whether this process logs calls.
func (l *Log) On() bool { return l.options.Keep.For > 0 }

func (l *Log) path() string { return filepath.Join(l.options.Dir, DatabaseName) }

// errNone means that nothing was ever logged here.
var errNone = errors.New("requests: nothing was logged")

// read runs fn on the database, or returns errNone. A log that is damaged is out of reach, and everything else works on.
func (l *Log) read(ctx context.Context, fn func(*sqldb.DB) error) error {
	err := l.onDatabase(ctx, fn)
	if !fault.HasCode(err, sqldb.CodeDamaged) && !errors.Is(err, errDamaged) {
		return err
	}
	message := "The log of API requests is damaged"
	if l.options.URL == "" {
		message += ". Stop the service and remove the file " + l.path() + ": the server creates a new one"
	}
	return fault.WithCause(fault.Unavailable(sqldb.CodeDamaged, message), err)
}

func (l *Log) onDatabase(ctx context.Context, fn func(*sqldb.DB) error) error {
	l.opening.RLock()
	db := l.db
	l.opening.RUnlock()
	if db == nil {
		if err := l.open(ctx, false); err != nil {
			return err
		}
	}
	l.opening.RLock() // for as long as fn runs: nobody closes the database meanwhile
	defer l.opening.RUnlock()
	if l.db == nil {
		return errNone
	}
	return fn(l.db)
}

// open opens the database, unless it is open. create makes its tables, too.
func (l *Log) open(ctx context.Context, create bool) error {
	l.opening.Lock()
	defer l.opening.Unlock()
	if l.db != nil && (l.made || !create) {
		return nil
	}
	if _, err := os.Stat(l.path()); l.options.URL == "" && !create && errors.Is(err, fs.ErrNotExist) {
		return errNone
	}
	db := l.db
	if db == nil {
		var err error
		if db, err = sqldb.Open(ctx, sqldb.Options{ // without a log: [Log.note] says once what fails, and the service can be written all the same
			URL: l.options.URL, Path: l.path(), Schemas: []sqldb.Schema{schema}, Relaxed: true, Longer: l.options.Longer,
		}); err != nil {
			return err
		}
	}
	there, err := db.HasSchema(ctx, schema.Name)
	switch {
	case err == nil && create:
		err = db.Migrate(ctx)
	case err == nil && !there:
		err = errNone
	}
	if err != nil && l.db == nil {
		_ = db.Close()
	}
	if err == nil {
		l.db, l.made = db, create
	}
	return err
}

// Close closes the database. Call it after Run has ended.
func (l *Log) Close() error {
	l.opening.Lock()
	defer l.opening.Unlock()
	if l.db == nil {
		return nil
	}
	db := l.db
	l.db, l.made = nil, false
	return db.Close()
}
