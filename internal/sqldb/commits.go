package sqldb

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/group"
)

// commitsInterval is how old the number in the commit file gets at most.
const commitsInterval = time.Second

// CodeBehind is the code of an error that says that a database lacks commits.
const CodeBehind = "database_behind"

// commits counts the commits of a SQLite database: in the database, in the transaction
// itself, and once a second in a file beside it. A database that is behind the file has
// lost commits that were acknowledged: its write-ahead log was cut or removed, or an
// older copy was put in its place. The file is never ahead of what is on the disk: what
// can be read was synced.
type commits struct {
	// due is notified of commits since the file was written.
	due chan struct{}
	// missing is how many commits the database lacks; 0 once that is accepted.
	missing atomic.Int64
	// recorded is the number in the file when the database was opened. Numbers go on
	// above it.
	recorded int64
	// fileBehind reports that the file could not be written the last time.
	fileBehind atomic.Bool
	// unread is why the two numbers could not be compared, nil when they were.
	unread error
}

// CommitFile is the path of the file that keeps the number of commits of the SQLite
// database at a path.
func CommitFile(path string) string {
	return strings.TrimSuffix(path, filepath.Ext(path)) + ".commits"
}

const (
	countCommit  = `UPDATE meta SET value = max(value + 1, $1) WHERE name = 'commits'`
	firstCommit  = `INSERT INTO meta (name, value) VALUES ('commits', $1)`
	readCommitNo = `SELECT CAST(value AS bigint) FROM meta WHERE name = 'commits'`
)

// countCommit counts a transaction that is about to be committed, unless it has written
// nothing.
func (db *DB) countCommit(ctx context.Context, t *transaction) error {
	if db.engine != SQLite || !t.wrote || db.options.Relaxed {
		return nil
	}
	ctx, cancel := t.bound(ctx)
	defer cancel()
	result, err := t.sql.ExecContext(ctx, countCommit, db.commits.recorded+1)
	if errors.Is(db.wrap(err), errNoTable) {
		return nil // before the first migration there is nothing to lose
	}
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); n > 0 || err != nil {
		return err
	}
	_, err = t.sql.ExecContext(ctx, firstCommit, db.commits.recorded+1)
	return err
}

// committed notes that writes succeed, and asks for the file to be written after a commit that was counted.
func (db *DB) committed(t *transaction) {
	if t.wrote {
		db.writeFaults.end()
	}
	if db.engine != SQLite || !t.wrote || db.options.Relaxed {
		return
	}
	select {
	case db.commits.due <- struct{}{}:
	default:
	}
}

// KeepCommits writes the number of commits into its file, at most once a second,
// until ctx ends. [DB.Close] writes the last one.
func (db *DB) KeepCommits(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return
		case <-db.commits.due:
			db.writeCommits(ctx)
		}
		group.Sleep(ctx, commitsInterval, nil)
	}
}

// lastCommits writes the file if it is due.
func (db *DB) lastCommits() {
	select {
	case <-db.commits.due:
		db.writeCommits(context.Background())
	default:
	}
}

// writeCommits brings the file to the number in the database. What can't be written now
// is written with a later commit: the file is behind until then, and says less. Beside
// another database it is left alone: that one would look as if it lacked commits.
func (db *DB) writeCommits(ctx context.Context) {
	number, err := One(ctx, db.Queries(), Value[int64], readCommitNo)
	if err == nil && len(db.files) > 0 {
		err = db.files[0].check() // the database's own; a log that is gone is to be told
	}
	if err == nil {
		err = raiseCommits(CommitFile(db.options.Path), number)
	}
	if ctx.Err() == nil {
		db.commits.fileBehind.Store(err != nil)
	}
	if err != nil && ctx.Err() == nil {
		db.options.Log.Warn("the number of commits could not be written to its file", "cause", err)
	}
}

// compareCommits finds out whether the database lacks commits. The file is read
// first: whoever commits writes it last.
func (db *DB) compareCommits(ctx context.Context) {
	c := &db.commits
	var counted int64
	if c.recorded, c.unread = readCommits(CommitFile(db.options.Path)); c.unread == nil {
		counted, c.unread = db.countedCommits(ctx)
	}
	if c.unread != nil {
		db.options.Log.Warn("comparing the numbers of commits failed; missing commits would not be noticed", "cause", c.unread)
		return
	}
	c.missing.Store(max(c.recorded-counted, 0))
}

// countedCommits is the number in the database, 0 before the first.
func (db *DB) countedCommits(ctx context.Context) (number int64, err error) {
	err = db.wrap(db.write.QueryRowContext(ctx, readCommitNo).Scan(&number))
	if errors.Is(err, errNoTable) || errors.Is(err, ErrNotFound) {
		return 0, nil
	}
	return number, err
}

// CommitsCompared is why it is not known whether commits are missing, nil when it is.
func (db *DB) CommitsCompared() error { return db.commits.unread }

// MissingCommits is how many acknowledged commits the database lacks, unless that was
// accepted.
func (db *DB) MissingCommits() int64 { return db.commits.missing.Load() }

// AcceptLoss lets the database be written although it lacks commits.
func (db *DB) AcceptLoss() { db.commits.missing.Store(0) }

// Behind is an error of kind Conflict when the database lacks commits that were
// acknowledged.
func (db *DB) Behind() error { return db.commits.behind() }

func (c *commits) behind() error {
	missing := c.missing.Load()
	if missing == 0 {
		return nil
	}
	what := fmt.Sprintf("the last %d commits", missing)
	if missing == 1 {
		what = "the last commit"
	}
	return fault.Conflict(CodeBehind, "This database lacks "+what+" that it acknowledged: its write-ahead log (-wal) was truncated, damaged or removed, or an older copy replaced it. "+
		"Restore the newer files. If you restored a backup on purpose, you can accept the loss")
}
