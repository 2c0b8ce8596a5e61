package sqldb

import (
	"context"
	"os"
)

// logLimit is the size of the write-ahead log, in bytes, from which it is brought
// back into the database. SQLite does so itself at the end of a commit, but can't
// finish while lookups hold an older view. A smaller limit would release those more
// often.
const logLimit = 16 << 20

// longLog is the size of the log, in bytes, that only a reader that does not end can
// make, and from which the log file mentions it.
const longLog = 16 * logLimit

// pageBytes is the size of a page of a database, unless SQLite was built otherwise.
const pageBytes = 4096

// KeepLogShort brings SQLite's write-ahead log back into the database whenever
// the feed finds that it has grown, until ctx ends.
func (db *DB) KeepLogShort(ctx context.Context) {
	var loggedSize int64
	for {
		select {
		case <-ctx.Done():
			return
		case <-db.logDue:
		}
		if db.writesOff.Load() != nil {
			continue
		}
		if err := db.checkpoint(ctx); err != nil && ctx.Err() == nil {
			db.options.Log.Warn("checkpointing the write-ahead log failed", "cause", err)
		}
		loggedSize = db.logLongWAL(loggedSize)
	}
}

// LogBytes is the size of SQLite's write-ahead log, in bytes; 0 without one.
func (db *DB) LogBytes() int64 {
	log, err := os.Stat(db.options.Path + "-wal")
	if err != nil || db.engine != SQLite {
		return 0
	}
	return log.Size()
}

// logLongWAL warns of a log that stays long, and again whenever its size has doubled.
// It takes and returns the size that was logged last, 0 for none.
func (db *DB) logLongWAL(loggedSize int64) int64 {
	log, err := os.Stat(db.options.Path + "-wal")
	if err != nil || log.Size() < longLog {
		return 0
	}
	if log.Size() < 2*loggedSize {
		return loggedSize
	}
	db.options.Log.Warn("the write-ahead log grows because a reader does not end; "+
		"check for an export whose output nobody reads, or another program that has the file open", "bytes", log.Size())
	return log.Size()
}

// watchLog asks for a checkpoint when the log has grown.
func (db *DB) watchLog() {
	log, err := os.Stat(db.options.Path + "-wal")
	if err == nil && log.Size() >= logLimit {
		select {
		case db.logDue <- struct{}{}:
		default:
		}
	}
}

// checkpoint brings the log into the database, as far as no older snapshot needs it,
// and then releases all snapshots: the ones opened next need nothing of the log, so
// that the next commit writes it from its beginning.
func (db *DB) checkpoint(ctx context.Context) error {
	db.snapshots.release()
	var busy, frames, done int64
	err := db.read.QueryRowContext(ctx, `PRAGMA wal_checkpoint(PASSIVE)`).Scan(&busy, &frames, &done)
	db.snapshots.release()
	return db.wrap(err)
}
