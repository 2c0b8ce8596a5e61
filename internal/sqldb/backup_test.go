package sqldb

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
)

var backupTime = time.Date(2026, 11, 1, 12, 30, 0, 0, time.UTC)

func TestBackupOfSQLiteIsADatabase(t *testing.T) {
	at := dbtest.New(t, dbtest.SQLite)
	db := migrated(t, at)
	exec(t, db, `INSERT INTO notes (id, text) VALUES (1, 'kept')`)
	path, err := db.Backup(t.Context(), filepath.Join(at.Dir, "backups"), backupTime)
	if err != nil {
		t.Fatal(err)
	}
	wantPrivate(t, path)
	exec(t, db, `INSERT INTO notes (id, text) VALUES (2, 'later')`)
	restored := open(t, Options{Path: path, Schemas: []Schema{twoSteps()}})
	if state, err := restored.State(t.Context()); err != nil || state != StateCurrent {
		t.Errorf("the copy's state: %q, %v", state, err)
	}
	if got := count(t, restored.Queries(), `SELECT count(*) FROM notes`); got != 1 {
		t.Errorf("%d notes in the copy, want the one that was there", got)
	}
	if err := restored.Tx(t.Context(), func(q Queries) error { return addNote(t.Context(), q, 3) }); err != nil {
		t.Errorf("the copy can't be written: %v", err)
	}
}

func TestBackupOfPostgresHoldsEveryRow(t *testing.T) {
	t.Parallel()
	at := dbtest.New(t, dbtest.Postgres)
	db := migrated(t, at)
	exec(t, db, `INSERT INTO notes (id, text) VALUES (1, 'a "quoted" \ line'), (2, '')`)
	mark(t, db, "7")
	path, err := db.Backup(t.Context(), at.Dir, backupTime)
	if err != nil {
		t.Fatal(err)
	}
	wantPrivate(t, path)
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows := map[string]int{}
	texts := map[string]bool{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var line struct {
			Table string
			Row   map[string]any
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		rows[line.Table]++
		if text, ok := line.Row["text"].(string); ok {
			texts[text] = true
		}
	}
	if rows["notes"] != 2 || rows["changes"] != 1 || rows["notes_versions"] != 3 || rows["countersign_versions"] != 2 {
		t.Errorf("rows of each table: %v", rows)
	}
	if !texts[`a "quoted" \ line`] {
		t.Errorf("texts %v", texts)
	}
}

func TestABackupOfPostgresLeavesOutTheTablesOfALog(t *testing.T) {
	t.Parallel()
	o := optionsOf(dbtest.New(t, dbtest.Postgres), twoSteps())
	o.NotInBackup = "log_"
	db := open(t, o)
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	exec(t, db, `INSERT INTO notes (id, text) VALUES (1, 'kept')`)
	exec(t, db, `CREATE TABLE log_1 (id bigint)`)
	exec(t, db, `INSERT INTO log_1 VALUES (7)`)
	path, err := db.Backup(t.Context(), filepath.Dir(o.Path), backupTime)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), `"table":"notes"`) || strings.Contains(string(text), "log_1") {
		t.Errorf("%s, %v", text, err)
	}
}

func TestBackupTakesThePlaceOfAHalfOne(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at)
		path, err := db.Backup(t.Context(), at.Dir, backupTime)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path, path+".partial"); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Backup(t.Context(), at.Dir, backupTime); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path + ".partial"); err == nil {
			t.Error("half a backup is left")
		}
	})
}

func TestFailedBackupLeavesNothing(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at)
		dir := filepath.Join(at.Dir, "backups")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if path, err := db.Backup(ctx, dir, backupTime); err == nil || path != "" {
			t.Fatalf("%q, %v", path, err)
		}
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != 0 {
			t.Errorf("left are %v, %v", left, err)
		}
	})
}

func wantPrivate(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("%s has mode %o, want 600", path, info.Mode().Perm())
	}
}
