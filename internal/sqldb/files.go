package sqldb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/countersign/countersign/internal/group"
)

// placeInterval is how often a server makes sure that its files are still its own.
const placeInterval = time.Minute

// openFile is a file that SQLite has open.
type openFile struct {
	path string
	info fs.FileInfo
}

// openFiles notes which files are open: the database, and its log, which SQLite
// removes only when the last connection is closed.
func openFiles(path string) ([]openFile, error) {
	var files []openFile
	for _, p := range []string{path, path + "-wal"} {
		info, err := os.Stat(p)
		if err != nil && p == path {
			return nil, fmt.Errorf("sqldb: open: %w", err)
		}
		if err == nil {
			files = append(files, openFile{p, info})
		}
	}
	return files, nil
}

var errReplaced = errors.New("another file is in its place")

// checkFiles returns an error of kind Unavailable when a file at a path is not the one
// that is open. No connection is made then: it would read another database.
func (s *shared) checkFiles() error {
	for _, f := range s.files {
		if err := f.check(); err != nil {
			return unavailable(stopFile.message, err)
		}
	}
	return nil
}

// check returns an error when the file at the path is not the one that is open.
func (f openFile) check() error {
	now, err := os.Stat(f.path)
	if err == nil && !os.SameFile(f.info, now) {
		err = &fs.PathError{Op: "stat", Path: f.path, Err: errReplaced}
	}
	return err
}

// WatchFiles makes sure each minute, until ctx ends, that the lock of the data folder
// and the database's files are still those that were opened, and switches writes off
// when they are not: another server may use the folder, and what is written to a file
// without a name is lost.
func (db *DB) WatchFiles(ctx context.Context) {
	group.Every(ctx, placeInterval, func(context.Context) { db.checkPlace() })
}

func (db *DB) checkPlace() {
	if err := db.options.Lock.verify(); err != nil {
		db.stopWrites(stopLock, err)
	}
	if err := db.checkFiles(); err != nil {
		db.stopWrites(stopFile, err)
	}
}
