package sqldb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/countersign/countersign/internal/fault"
)

// CodeInUse is the code of the error of a database that another program has open.
const CodeInUse = "database_in_use"

// builtSuffix ends the name of a file that will replace the database.
const builtSuffix = ".restore"

// Replace replaces the tables of a database and their rows. It is all or nothing, also when the
// process is killed. The caller has the lock of the data folder. A database that others use is a
// conflict ([CodeInUse]).
//
// On SQLite it makes a new file and renames it; damaged files are kept under another name, and the
// result lists them. On PostgreSQL it is one transaction.
func Replace(ctx context.Context, o Options, b Build) (aside []string, err error) {
	if o.URL != "" {
		return nil, buildPostgres(ctx, o, b, (*postgresLoad).dropTables)
	}
	err = buildBeside(ctx, o, b, func(built string) (err error) {
		aside, err = swapFile(ctx, built, o.Path)
		return err
	})
	return aside, err
}

// buildBeside makes a SQLite file beside that of a database, and calls place to put it in its place.
func buildBeside(ctx context.Context, o Options, b Build, place func(built string) error) error {
	beside := o
	beside.Path = o.Path + builtSuffix
	defer removeFiles(beside.Path) //nolint:errcheck // it was placed, or has no use
	if err := BuildFile(ctx, beside, b); err != nil {
		return err
	}
	if err := countOn(ctx, beside.Path, o.Path); err != nil {
		return err
	}
	return place(beside.Path)
}

// countOn lets the new file count commits on from the number in the commit file: it replaces the
// database on purpose, and lacks none.
func countOn(ctx context.Context, built, path string) error {
	recorded, err := readCommits(CommitFile(path))
	if err != nil {
		return nil //nolint:nilerr // it is not compared then, and the server says so
	}
	pool, err := openSQLitePool(buildDSN(built), func() error { return nil })
	if err != nil {
		return err
	}
	defer pool.Close()
	for _, statement := range []string{
		`INSERT INTO meta (name, value) VALUES ('commits', '0') ON CONFLICT (name) DO NOTHING`,
		`UPDATE meta SET value = CAST(max(CAST(value AS bigint), ` + strconv.FormatInt(recorded, 10) + `) + 1 AS text) WHERE name = 'commits'`,
	} {
		if _, err := pool.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("sqldb: count commits: %w", err)
		}
	}
	if err := pool.Close(); err != nil {
		return err
	}
	return syncFile(built)
}

// swapFile puts a new file in the place of a database. It first brings the write-ahead log of the
// old one into it and removes the log, which would otherwise be read as that of the new file. SQLite
// does so only while nobody else has the database open.
func swapFile(ctx context.Context, built, path string) (aside []string, err error) {
	release, err := closeLog(ctx, path)
	if isDamage(err) || errors.Is(err, errNotAFile) {
		aside, err = setAside(path)
	}
	if err != nil {
		return nil, err
	}
	defer release()
	if !replacesOpenFiles {
		release()
	}
	if err := os.Rename(built, path); err != nil {
		return aside, fmt.Errorf("sqldb: replace the database: %w", err)
	}
	return aside, SyncFolder(filepath.Dir(path))
}

// closeLog makes a database one file without a log, and keeps others out until release is called.
// A missing database is one already.
func closeLog(ctx context.Context, path string) (release func(), err error) {
	release = func() {}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
			return release, errNotAFile
		}
		return release, nil
	}
	if err != nil {
		return release, err
	}
	if !info.Mode().IsRegular() || info.Size() == 0 {
		return release, errNotAFile
	}
	pool, err := openSQLitePool(dsn(path, url.Values{"_pragma": {"busy_timeout(2000)", "locking_mode(EXCLUSIVE)"}}), func() error { return nil })
	if err != nil {
		return release, err
	}
	pool.SetMaxOpenConns(1)
	var mode string
	err = pool.QueryRowContext(ctx, "PRAGMA journal_mode = DELETE").Scan(&mode)
	if isBusy(err) || (err == nil && mode != "delete") {
		err = fault.WithCause(fault.Conflict(CodeInUse, fmt.Sprintf("Another program has the database %s open", path)), err)
	}
	if err != nil {
		return release, errors.Join(err, pool.Close())
	}
	return func() { _ = pool.Close() }, nil
}

// damagedName is the name under which a damaged file is kept.
func damagedName(path string) string {
	return path + ".damaged-" + time.Now().UTC().Format("20060102T150405Z")
}

// KeepDamaged keeps a SQLite file with damage that [Replace] may not notice, because it reads only
// its beginning. It returns the other name of the file, "" for one that is not there.
func KeepDamaged(path string) (aside string, err error) {
	aside = damagedName(path)
	if err := os.Link(path, aside); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	} else if err != nil {
		return "", fmt.Errorf("sqldb: keep a damaged file: %w", err)
	}
	return aside, nil
}

// setAside keeps the files of a database that can't be read under other names. The database
// stays where it is too, until another takes its place.
func setAside(path string) (aside []string, err error) {
	for _, one := range []string{path, path + "-wal"} {
		to := damagedName(one)
		if err := os.Link(one, to); errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil && !errors.Is(err, fs.ErrExist) { // kept by KeepDamaged
			return aside, fmt.Errorf("sqldb: keep a damaged file: %w", err)
		}
		aside = append(aside, to)
	}
	for _, one := range []string{path + "-wal", path + "-shm"} {
		if err := os.Remove(one); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return aside, fmt.Errorf("sqldb: remove the log of a damaged file: %w", err)
		}
	}
	return aside, nil
}

// removeFiles removes a SQLite file and what belongs to it.
func removeFiles(path string) error {
	for _, one := range []string{path, path + "-wal", path + "-shm", path + "-journal"} {
		if err := os.Remove(one); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("sqldb: remove a file: %w", err)
		}
	}
	return nil
}
