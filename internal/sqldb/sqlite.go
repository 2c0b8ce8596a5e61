package sqldb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"

	"github.com/countersign/countersign/internal/fault"
	lib "modernc.org/sqlite/lib"
)

// oldestSafeSQLite is the first release without the fault that can lose
// committed transactions in WAL mode.
const oldestSafeSQLite = 3_051_003

// With an older release, this does not compile.
const _ = uint(lib.SQLITE_VERSION_NUMBER - oldestSafeSQLite)

func openSQLite(ctx context.Context, s *shared) (*DB, error) {
	if s.options.NoCreate {
		if _, err := os.Stat(s.options.Path); errors.Is(err, fs.ErrNotExist) {
			return openNothing(s)
		}
	}
	if err := s.checkFile(); err != nil {
		return nil, err
	}
	if err := makeFile(s.options.Path); err != nil {
		return nil, err
	}
	write, err := openSQLitePool(writerDSN(s.options.Path, s.options.Relaxed), s.checkFiles)
	if err != nil {
		return nil, err
	}
	db := &DB{shared: s, write: write, writers: newWriters(write, 1), limits: requestLimits(s.options)}
	if err := db.checkWAL(ctx); err != nil {
		return nil, errors.Join(db.wrap(err), write.Close())
	}
	db.compareCommits(ctx)
	if s.files, err = openFiles(s.options.Path); err != nil {
		return nil, errors.Join(err, write.Close())
	}
	s.checkDue.Store(s.options.Lock.unclean())
	readers := countReaders()
	if db.read, err = openSQLitePool(readerDSN(s.options.Path), s.checkFiles); err != nil {
		return nil, errors.Join(err, write.Close())
	}
	db.read.SetMaxOpenConns(readers)
	db.read.SetMaxIdleConns(readers)
	return db, nil
}

// openNothing opens an empty database in memory. It lives in one connection.
func openNothing(s *shared) (*DB, error) {
	memory, err := openSQLitePool(":memory:", s.checkFiles)
	if err != nil {
		return nil, err
	}
	db := &DB{shared: s, read: memory, write: memory, writers: newWriters(memory, 1), limits: requestLimits(s.options)}
	db.compareCommits(context.Background())
	return db, nil
}

// checkFile returns an error for what SQLite must not open: it would remove the log beside an
// empty file, and wait for a pipe.
func (s *shared) checkFile() error {
	info, err := os.Stat(s.options.Path)
	if err != nil {
		return nil //nolint:nilerr // the file is new, or opening it says why it can't be read
	}
	log, err := os.Stat(s.options.Path + "-wal")
	switch {
	case !info.Mode().IsRegular():
		return s.damaged("is not a regular file", nil)
	case info.Size() == 0 && err == nil && log.Size() > 0:
		return s.damaged("is empty, but its write-ahead log (-wal) is not", nil)
	}
	return nil
}

// makeFile creates an empty database file that only its owner may read.
// An existing file is never opened here: closing a second descriptor of a
// database in use would drop the locks that SQLite holds on it.
func makeFile(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fault.WithCause(fault.Unavailable("data_folder", fmt.Sprintf("The database file %s can't be created (%v)", path, fault.FileReason(err))), err)
	}
	return f.Close()
}

// FileHasSchema reports whether a SQLite file has tables of a schema. It changes no file and
// makes none, so it does not read what is in the write-ahead log alone. What can't be read has
// none.
func FileHasSchema(ctx context.Context, path, name string) bool {
	there := false
	err := readUnchanged(ctx, path, &there, `SELECT count(*) > 0 FROM sqlite_schema WHERE name = $1`, name+"_versions")
	return err == nil && there
}

// FileMeta reads a named value of a SQLite file like [Queries.Meta], and changes and makes no
// file. It is "" when it can't be read, and when a write-ahead log may have a newer one.
func FileMeta(ctx context.Context, path, name string) string {
	if log, err := os.Stat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) && (err != nil || log.Size() > 0) {
		return ""
	}
	value := ""
	if err := readUnchanged(ctx, path, &value, `SELECT value FROM meta WHERE name = $1`, name); err != nil {
		return ""
	}
	return value
}

// readUnchanged reads one value of a SQLite file as it is without its write-ahead log.
func readUnchanged(ctx context.Context, path string, value any, query, name string) error {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return errNotAFile
	}
	pool, err := openSQLitePool(dsn(path, url.Values{"immutable": {"1"}}), func() error { return nil })
	if err != nil {
		return err
	}
	defer pool.Close()
	return pool.QueryRowContext(ctx, query, name).Scan(value)
}

// checkWAL opens the first connection and refuses a file that can't be used in WAL mode.
func (db *DB) checkWAL(ctx context.Context) error {
	var mode string
	if err := db.write.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("sqldb: %s can't be used in WAL mode (it is in %q mode); is it on a network file system?", db.options.Path, mode)
	}
	return nil
}

// dsn names a file that is there: one that was removed meanwhile is not created again.
func dsn(path string, values url.Values) string {
	values.Set("mode", "rw")
	return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: values.Encode()}).String()
}

// writerDSN has a log that keeps most of its length, to be written over in place. It is
// cut to less than what asks for a checkpoint: its size tells when it is full again.
// Once it is open it has no busy timeout: stmtCacheConn waits, which can be called off. The
// driver sets what is named "busy_timeout" first and the rest by name.
//
// A relaxed writer syncs the log only before a checkpoint.
func writerDSN(path string, relaxed bool) string {
	synchronous := "synchronous(FULL)"
	if relaxed {
		synchronous = "synchronous(NORMAL)"
	}
	return dsn(path, url.Values{"_txlock": {"immediate"}, "_pragma": {
		"busy_timeout(5000)", "journal_mode(WAL)", synchronous, "foreign_keys(1)", "cache_size(-8000)",
		fmt.Sprintf("journal_size_limit(%d)", logLimit-pageBytes), fmt.Sprintf("wal_autocheckpoint(%d)", logLimit/pageBytes),
		"temp.busy_timeout(0)",
	}})
}

func readerDSN(path string) string {
	return dsn(path, url.Values{"_pragma": {
		"busy_timeout(5000)", "query_only(1)",
	}})
}

// sessionDSN is the writer's with a cache for temporary tables. Their
// transactions touch no other file, so they need no journal to disk. They do need one:
// without it, a rollback leaves them in an undefined state.
func sessionDSN(path string, relaxed bool) string {
	return writerDSN(path, relaxed) + "&" + url.Values{"_pragma": {"temp.journal_mode(MEMORY)"}}.Encode()
}

// buildDSN is for a file that is used once it is complete, and removed otherwise.
func buildDSN(path string) string {
	return dsn(path, url.Values{"_pragma": {"journal_mode(MEMORY)", "synchronous(OFF)", "foreign_keys(0)", "cache_size(-64000)"}})
}
