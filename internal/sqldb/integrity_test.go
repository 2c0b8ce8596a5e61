package sqldb

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/must"
)

var checkedAt = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// served opens a database as a server does, whose log is in the buffer.
func served(t *testing.T, path string) (*DB, *FolderLock, *bytes.Buffer) {
	t.Helper()
	lock := must.Get(LockFolder(filepath.Dir(path), "a test", ""))(t)
	t.Cleanup(lock.Unlock)
	var log bytes.Buffer
	db := must.Get(Open(t.Context(), Options{Path: path, Lock: lock, Log: slog.New(slog.NewTextHandler(&log, nil))}))(t)
	t.Cleanup(func() { _ = db.Close() })
	return db, lock, &log
}

// stopped ends a server: cleanly, or as a kill does, which closes no database.
func stopped(t *testing.T, db *DB, lock *FolderLock, cleanly bool) {
	t.Helper()
	if !cleanly {
		lock.leftOver = true
		db.checkDue.Store(true)
	}
	must.Do(t, db.Close())
	lock.Unlock()
}

func lastCheck(t *testing.T, db *DB) string {
	t.Helper()
	return must.Get(db.Queries().Meta(t.Context(), metaChecked))(t)
}

func TestFileIsCheckedAfterAnUncleanStopAndEveryWeek(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	db, lock, _ := served(t, path)
	must.Do(t, db.Migrate(t.Context()))
	last := ""
	for _, step := range []struct {
		name      string
		restarted bool
		cleanly   bool
		after     time.Duration
		checked   bool
	}{
		{"a new database", false, false, 0, true},
		{"a clean stop", true, true, time.Hour, false},
		{"a kill", true, false, 2 * time.Hour, true},
		{"a clean stop after it", true, true, 3 * time.Hour, false},
		{"an hour less than a week", false, false, 2*time.Hour + 7*24*time.Hour - time.Hour, false},
		{"a week", false, false, 2*time.Hour + 7*24*time.Hour, true},
	} {
		if step.restarted {
			stopped(t, db, lock, step.cleanly)
			db, lock, _ = served(t, path)
		}
		if err := db.checkIntegrity(t.Context(), checkedAt.Add(step.after)); err != nil {
			t.Fatal(step.name, err)
		}
		now := lastCheck(t, db)
		if (now != last) != step.checked {
			t.Errorf("%s: checked at %s, before it at %s", step.name, now, last)
		}
		last = now
	}
}

// A stop before the check has ended leaves it to the next start.
func TestCheckThatDidNotEndIsDueAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	db, lock, _ := served(t, path)
	must.Do(t, db.Migrate(t.Context()))
	stopped(t, db, lock, false)
	db, lock, _ = served(t, path)
	stopped(t, db, lock, true)
	db, _, _ = served(t, path)
	if due, err := db.integrityDue(t.Context(), checkedAt); !due || err != nil {
		t.Errorf("due %t, %v", due, err)
	}
}

func TestProgramsWithoutALockLeaveNoMark(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	must.Do(t, errors.Join(openAt(t, path).Migrate(t.Context())))
	lock := must.Get(LockFolder(filepath.Dir(path), "a test", ""))(t)
	defer lock.Unlock()
	if lock.unclean() {
		t.Error("it counts as an unclean stop")
	}
}

// damaged is the path of a database with a page of rows that was overwritten.
func damaged(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.db")
	db, lock, _ := served(t, path)
	must.Do(t, db.Migrate(t.Context()))
	must.Get(db.Queries().Exec(t.Context(), `CREATE TABLE notes (id bigint, note text)`))(t)
	must.Do(t, db.Tx(t.Context(), func(q Queries) error {
		for i := range 2000 {
			if _, err := q.Exec(t.Context(), `INSERT INTO notes (id, note) VALUES ($1, $2)`, i, fmt.Sprintf("%0500d", i)); err != nil {
				return err
			}
		}
		return q.SetMeta(t.Context(), metaChecked, "2026-11-01T12:00:00Z")
	}))
	stopped(t, db, lock, false)
	f := must.Get(os.OpenFile(path, os.O_RDWR, 0))(t)
	info := must.Get(f.Stat())(t)
	middle := info.Size() / pageBytes / 2 * pageBytes
	_, err := f.WriteAt(bytes.Repeat([]byte{0xff}, pageBytes), middle)
	must.Do(t, errors.Join(err, f.Close()))
	return path
}

func TestDamageOfAPageIsFoundAndReadsGoOn(t *testing.T) {
	path := damaged(t)
	for range 2 { // and again at the next start
		db, lock, log := served(t, path)
		if err := db.Healthy(); err != nil {
			t.Fatal("before the check:", err)
		}
		must.Do(t, db.checkIntegrity(t.Context(), checkedAt.Add(time.Hour)))
		if err := db.Healthy(); err == nil || !strings.Contains(err.Error(), "the database file "+path+" is damaged. Stop the service, keep a copy") {
			t.Errorf("it is healthy: %v", err)
		}
		if !strings.Contains(log.String(), "the database file "+path+" is damaged; writes are off until a restart") || !strings.Contains(log.String(), "notes: ") {
			t.Errorf("the log does not say what is damaged: %s", log)
		}
		if err := writeMeta(t.Context(), db, "one"); err == nil {
			t.Error("it was written")
		}
		if _, err := db.Queries().Meta(t.Context(), metaChecked); err != nil {
			t.Errorf("what is sound can't be read: %v", err)
		}
		problems, err := db.QuickCheck(t.Context())
		if len(problems) == 0 || len(problems) > 2*maxProblems || err != nil {
			t.Errorf("%d problems, %v", len(problems), err)
		}
		stopped(t, db, lock, true)
	}
}

func TestDamageThatAQueryMeetsIsNoticed(t *testing.T) {
	db, _, _ := served(t, damaged(t))
	if _, err := List(t.Context(), db.Queries(), Value[string], `SELECT note FROM notes`); err == nil {
		t.Fatal("all was read")
	}
	if err := db.Healthy(); err == nil {
		t.Error("it is healthy")
	}
}

// The check of a table is a snapshot of its own, so that the log can be reset between.
func TestCheckHoldsNoSnapshotWhenItHasEnded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	db := openAt(t, path)
	must.Do(t, db.Migrate(t.Context()))
	if problems, err := db.QuickCheck(t.Context()); len(problems) > 0 || err != nil {
		t.Fatal(problems, err)
	}
	must.Do(t, writeMeta(t.Context(), db, "one"))
	var busy, frames, done int64
	if err := db.write.QueryRowContext(t.Context(), `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &frames, &done); err != nil || busy != 0 {
		t.Errorf("the log can't be reset: busy %d, %v", busy, err)
	}
}
