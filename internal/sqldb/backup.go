package sqldb

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// NewestBackup is the newest backup of the SQLite database at a path that was made before an
// update, "" when there is none.
func NewestBackup(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	entries, _ := os.ReadDir(filepath.Join(filepath.Dir(path), "backups")) // sorted
	for _, e := range slices.Backward(entries) {
		if strings.HasPrefix(e.Name(), name+"-") && strings.HasSuffix(e.Name(), "Z.db") {
			return filepath.Join(filepath.Dir(path), "backups", e.Name())
		}
	}
	return ""
}

// Backup writes a copy of the whole database into a folder and returns its
// path: on SQLite a database file, on PostgreSQL a line of JSON for each row.
// Secrets in it are sealed; the key file is not in it.
func (db *DB) Backup(ctx context.Context, dir string, now time.Time) (path string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("sqldb: backup: %w", err)
	}
	extension := ".db"
	if db.engine == Postgres {
		extension = ".jsonl"
	}
	name := strings.TrimSuffix(filepath.Base(db.options.Path), filepath.Ext(db.options.Path))
	path = filepath.Join(dir, name+"-"+now.UTC().Format("20060102T150405Z")+extension)
	partial := path + ".partial"
	if err := os.Remove(partial); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("sqldb: backup: %w", err)
	}
	if db.engine == Postgres {
		err = db.dumpRows(ctx, partial)
	} else {
		_, err = db.write.ExecContext(ctx, `VACUUM INTO $1`, partial)
		err = errors.Join(db.wrap(err), syncFile(partial))
	}
	if err == nil {
		err = os.Rename(partial, path)
	}
	if err != nil {
		_ = os.Remove(partial) // a disk that is full has no space for a partial backup
		return "", fmt.Errorf("sqldb: backup: %w", err)
	}
	return path, nil
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o600), f.Sync(), f.Close())
}

// dumpRows writes {"table":…,"row":{…}} for every row of every table of ours,
// in one snapshot.
func (db *DB) dumpRows(ctx context.Context, path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(f)
	err = db.Snapshot(ctx, func(q Queries) error {
		tables, err := List(ctx, q, Value[string], `SELECT tablename FROM pg_tables
			WHERE schemaname = current_schema() AND tableowner = current_user AND ($1 = '' OR NOT starts_with(tablename, $1)) ORDER BY tablename`,
			db.options.NotInBackup)
		if err != nil {
			return err
		}
		for _, table := range tables {
			err := Each(ctx, q, Value[string], func(row string) error {
				_, err := fmt.Fprintf(out, `{"table":%q,"row":%s}`+"\n", table, row)
				return err
			}, `SELECT row_to_json(t)::text FROM "`+table+`" t`)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(err, out.Flush(), f.Sync(), f.Close())
}
