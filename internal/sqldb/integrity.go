package sqldb

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/group"
	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

const (
	// integrityInterval is how often a server checks its database file.
	integrityInterval = 7 * 24 * time.Hour
	// integrityRetry is how soon it looks again whether that is due.
	integrityRetry = time.Hour
	// metaChecked is the name under which the database keeps when it was last found to
	// be whole.
	metaChecked = "integrity_checked"
	// maxProblems is how many problems of a table are reported.
	maxProblems = 5
)

// WatchIntegrity checks a SQLite file in the background after an unclean stop, and
// every week, until ctx ends. Damage switches writes off; reads go on where they are
// sound. PostgreSQL checks its own files.
func (db *DB) WatchIntegrity(ctx context.Context, now func() time.Time) {
	if db.engine != SQLite {
		return
	}
	for {
		if err := db.checkIntegrity(ctx, now()); err != nil && ctx.Err() == nil {
			db.options.Log.Warn("the database file could not be checked", "cause", err)
		}
		if !group.Sleep(ctx, integrityRetry, nil) {
			return
		}
	}
}

// checkIntegrity checks the file if that is due. Its error says that it could not.
func (db *DB) checkIntegrity(ctx context.Context, now time.Time) error {
	due, err := db.integrityDue(ctx, now)
	if err != nil || !due {
		return err
	}
	problems, err := db.QuickCheck(ctx)
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		db.stopWrites(db.stopDamage(), errors.New(strings.Join(problems, "; ")))
		return nil
	}
	db.checkDue.Store(false)
	return db.Tx(ctx, func(q Queries) error {
		return q.SetMeta(ctx, metaChecked, now.UTC().Format(timeLayout))
	})
}

func (db *DB) integrityDue(ctx context.Context, now time.Time) (bool, error) {
	if db.checkDue.Load() {
		return true, nil
	}
	last, err := db.CheckedAt(ctx)
	return now.Sub(last) >= integrityInterval, err
}

// CheckedAt reads when a SQLite file was last found to be intact. It is zero for a file that
// was not checked yet, and on PostgreSQL.
func (db *DB) CheckedAt(ctx context.Context) (time.Time, error) {
	text, err := db.Queries().Meta(ctx, metaChecked)
	if err != nil || text == "" {
		return time.Time{}, err
	}
	var at Time
	if at.UnmarshalText([]byte(text)) != nil {
		return time.Time{}, nil
	}
	return at.Time, nil
}

// QuickCheck returns what is wrong with a SQLite file, nothing for one that is whole.
// It reads every page, on a connection of its own, one table after the other: the
// snapshot of each check ends with it, so that none keeps the write-ahead log from
// being reset for longer than the largest table takes. It blocks nobody.
func (db *DB) QuickCheck(ctx context.Context) (problems []string, err error) {
	if len(db.files) == 0 { // PostgreSQL, or no file at all
		return nil, nil
	}
	pool, err := openSQLitePool(readerDSN(db.options.Path), db.checkFiles)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	pool.SetMaxOpenConns(1)
	tables, err := list(ctx, pool, Value[string], `SELECT name FROM sqlite_schema WHERE type = 'table'`)
	// The schema stands for itself and for the list of free pages.
	for _, table := range append([]string{"sqlite_schema"}, tables...) {
		if err != nil {
			break
		}
		var found []string
		found, err = list(ctx, pool, Value[string], `PRAGMA quick_check('`+strings.ReplaceAll(table, "'", "''")+`')`)
		if len(found) == 1 && found[0] == "ok" {
			continue
		}
		for _, problem := range found[:min(len(found), maxProblems)] {
			problems = append(problems, table+": "+strings.TrimPrefix(problem, "*** in database main ***\n"))
		}
		if isDamage(err) { // so much that the check itself could not go on
			problems, err = append(problems, table+": "+err.Error()), nil
		}
	}
	if isDamage(err) {
		return []string{err.Error()}, nil
	}
	return problems, db.wrap(err)
}

// isDamage reports whether SQLite could not make sense of the file.
func isDamage(err error) bool {
	lite, ok := errors.AsType[*sqlite.Error](err)
	return ok && (lite.Code()&0xff == lib.SQLITE_CORRUPT || lite.Code()&0xff == lib.SQLITE_NOTADB)
}
