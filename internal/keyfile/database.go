package keyfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/sqldb"
)

// codeDatabaseMissing is the code of the error of a data folder that had a database.
const codeDatabaseMissing = "database_missing"

// IsDatabaseMissing reports whether err is that error. It names files: it is for the
// operator.
func IsDatabaseMissing(err error) bool {
	return fault.HasCode(err, codeDatabaseMissing)
}

// State is [sqldb.DB.State]. An empty database in a folder that had one before is an
// error of kind Conflict ([IsDatabaseMissing]): it is not new. So is a database of another
// service (other_service).
func (l *Location) State(ctx context.Context, db *sqldb.DB) (sqldb.State, error) {
	left := l.leftOver() // read first: a first run makes the tables before the key file
	if err := l.checkOwner(ctx, db); err != nil {
		return "", err
	}
	state, err := db.State(ctx)
	if err != nil || state != sqldb.StateEmpty || len(left) == 0 {
		return state, err
	}
	return "", l.databaseMissing(left)
}

// FindDatabase is an error like that of [Location.State] when there is no SQLite file in a
// folder that had one. Call it before the file is made.
func (l *Location) FindDatabase() error {
	if l.Database == "" || exists(l.Database) {
		return nil
	}
	if left := l.leftOver(); len(left) > 0 {
		return l.databaseMissing(left)
	}
	return nil
}

// OpenDatabase opens the database of the service. Without NoCreate its folder is created first, and a folder
// that had a SQLite file is an error as in [Location.FindDatabase]. A folder or a database of another service is an error
// before anything is written.
func (l *Location) OpenDatabase(ctx context.Context, o sqldb.Options) (*sqldb.DB, error) {
	if err := l.checkFolder(ctx, o.URL, o.Path); err != nil && !(o.NoCreate && IsDatabaseMissing(err)) {
		return nil, err
	}
	if o.URL == "" {
		return l.openFile(ctx, o)
	}
	db, err := sqldb.Open(ctx, o) // writes nothing
	if err != nil {
		return nil, err
	}
	if err = onlyConflict(l.checkOwner(ctx, db)); err == nil && !o.NoCreate {
		err = MakeFolder(l.Dir)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func (l *Location) openFile(ctx context.Context, o sqldb.Options) (*sqldb.DB, error) {
	if !o.NoCreate {
		if err := MakeFolder(l.Dir); err != nil {
			return nil, err
		}
	}
	return sqldb.Open(ctx, o)
}

// leftOver lists the files in the folder that only a database leaves there. A key that
// is in the environment is none of them.
func (l *Location) leftOver() []string {
	var left []string
	if path := filepath.Join(l.Dir, FileName); exists(path) {
		left = append(left, path)
	}
	if l.Database != "" {
		if path := sqldb.CommitFile(l.Database); exists(path) {
			left = append(left, path)
		}
	}
	return left
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, os.ErrNotExist)
}

func (l *Location) databaseMissing(left []string) error {
	what := "the PostgreSQL database has no tables"
	switch {
	case l.Database != "" && exists(l.Database):
		what = fmt.Sprintf("the database %s has no tables", l.Database)
	case l.Database != "":
		what = fmt.Sprintf("no database %s", l.Database)
	}
	files := strings.Join(left, " and ")
	return fault.Conflict(codeDatabaseMissing, fmt.Sprintf("This folder is not new: it contains %s, but %s. Restore the database, or name the folder and the database that belong together; "+
		"to start again, move %s out of the folder", files, what, files))
}

// Present is an error of kind Unavailable unless the database is there and belongs to
// the key file. It is cheap enough to be asked by a readiness check.
func Present(ctx context.Context, db *sqldb.DB, box *Box) error {
	if err := db.Healthy(); err != nil {
		return err
	}
	check, err := db.Queries().Meta(ctx, CheckName)
	if err != nil {
		return err
	}
	if !box.Matches(check) {
		return fault.Unavailable(countersign.CodeUnavailable, "The database lost its content, or now belongs to another key file. Restore it, then restart")
	}
	return nil
}
