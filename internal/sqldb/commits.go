package sqldb

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign"
)

// metaCommits is the name under which a SQLite database counts its commits.
const metaCommits = "commits"

// commitsInterval is how old the number in the commit file gets at most.
const commitsInterval = time.Second

// CodeBehind is the code of an error that says that a database lacks commits.
const CodeBehind = "database_behind"

// commits counts the commits of a SQLite database twice: in the database, in the
// transaction itself, and in a file beside it, after the commit. A database that is
// behind the file has lost commits that were acknowledged: its write-ahead log was cut
// or removed, or an older copy was put in its place. The file is never ahead of what
// is on the disk.
type commits struct {
	// last is the number of this process's last commit.
	last atomic.Int64
	due  chan struct{}
	mu   sync.Mutex // held to write the file
	// written is the number that the file holds at least.
	written int64
	// missing is how many commits the database lacks; 0 once that is accepted.
	missing atomic.Int64
	// recorded is the number in the file when the database was opened. Numbers go on
	// above it.
	recorded int64
}

// CommitFile is the path of the file that keeps the number of commits of the SQLite
// database at a path.
func CommitFile(path string) string {
	return strings.TrimSuffix(path, filepath.Ext(path)) + ".commits"
}

const countCommit = `INSERT INTO meta (name, value) VALUES ($1, $2)
	ON CONFLICT (name) DO UPDATE SET value = max(meta.value + 1, CAST(excluded.value AS bigint)) RETURNING CAST(value AS bigint)`

// countCommit counts a transaction that is about to be committed and returns its
// number, 0 for one that is not counted: it has written nothing, or PostgreSQL keeps it.
func (db *DB) countCommit(ctx context.Context, t *transaction) (number int64, err error) {
	if db.engine != SQLite || !t.wrote {
		return 0, nil
	}
	row := t.sql.QueryRowContext(context.WithoutCancel(ctx), countCommit, metaCommits, db.commits.recorded+1)
	return number, row.Scan(&number)
}

// acknowledge notes that a commit with a number is on the disk.
func (c *commits) acknowledge(number int64) {
	for {
		last := c.last.Load()
		if number <= last {
			return
		}
		if c.last.CompareAndSwap(last, number) {
			break
		}
	}
	select {
	case c.due <- struct{}{}:
	default:
	}
}

// KeepCommits writes the number of commits into its file, at most once a second,
// until ctx ends. [DB.Close] writes the last one.
func (db *DB) KeepCommits(ctx context.Context) {
	wait := time.NewTimer(0)
	defer wait.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-wait.C:
		}
		select {
		case <-ctx.Done():
			return
		case <-db.commits.due:
		}
		db.writeCommits()
		wait.Reset(commitsInterval)
	}
}

// writeCommits brings the file to the last number. What can't be written now is
// written with the next commit: the file is behind until then, and says less.
func (db *DB) writeCommits() {
	c := &db.commits
	c.mu.Lock()
	defer c.mu.Unlock()
	last := c.last.Load()
	if last <= c.written {
		return
	}
	if err := raiseCommits(CommitFile(db.options.Path), last); err != nil {
		db.options.Log.Warn("the number of commits could not be written to its file", "cause", err)
		return
	}
	c.written = last
}

// compareCommits finds out whether the database lacks commits. The file is read
// first: whoever commits writes it last.
func (db *DB) compareCommits(ctx context.Context) {
	c := &db.commits
	var err error
	if c.recorded, err = readCommits(CommitFile(db.options.Path)); err != nil {
		db.options.Log.Warn("the number of commits could not be read from its file, so nothing is known of commits that are missing", "cause", err)
		return
	}
	var counted int64
	row := db.write.QueryRowContext(ctx, `SELECT CAST(value AS bigint) FROM meta WHERE name = $1`, metaCommits)
	if err := db.wrap(row.Scan(&counted)); err != nil && !errors.Is(err, errNoTable) && !errors.Is(err, ErrNotFound) {
		db.options.Log.Warn("the number of commits could not be read from the database", "cause", err)
		return
	}
	c.missing.Store(max(c.recorded-counted, 0))
	c.written = c.recorded
}

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
	return &countersign.Error{
		Kind: countersign.KindConflict, Code: CodeBehind,
		Message: "This database lacks " + what + " that it acknowledged: its write-ahead log (-wal) was cut or removed, or an older copy took its place. " +
			"Put the newer files back; if a backup was restored on purpose, the loss can be accepted",
	}
}
