package sqldb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/countersign/countersign/internal/fault"
)

// The codes of errors about a database that is to be filled.
const (
	// CodeNotEmpty is that of a database that already has tables, or a file.
	CodeNotEmpty = "database_not_empty"
	// CodeNoPermission is that of a database in which the user may not create tables.
	CodeNoPermission = "database_permission"
)

// Create is [Replace] for an empty database. One that is not empty is a conflict ([CodeNotEmpty],
// or schema_newer), and stays as it is.
func Create(ctx context.Context, o Options, b Build) error {
	if o.URL != "" {
		return buildPostgres(ctx, o, b, (*postgresLoad).checkEmpty)
	}
	if err := checkNoFile(o.Path); err != nil {
		return err
	}
	return buildBeside(ctx, o, b, func(built string) error { return placeFile(built, o.Path) })
}

// checkNoFile is a conflict when there is a SQLite file, or a log of one, which SQLite would take
// for that of a new file.
func checkNoFile(path string) error {
	for _, one := range []string{path, path + "-wal", path + "-shm", path + "-journal"} {
		if _, err := os.Lstat(one); !errors.Is(err, fs.ErrNotExist) {
			return notEmpty("The file " + one + " exists")
		}
	}
	return nil
}

func notEmpty(what string) error { return fault.Conflict(CodeNotEmpty, what) }

// placeFile renames a new file, unless another file has it by now.
func placeFile(built, path string) error {
	err := os.Link(built, path)
	if errors.Is(err, fs.ErrExist) {
		return notEmpty("The file " + path + " exists")
	}
	if err != nil {
		return fmt.Errorf("sqldb: place the database: %w", err)
	}
	return SyncFolder(filepath.Dir(path))
}

// checkEmpty is a conflict when the database has tables, of any owner, or can't get any.
func (l *postgresLoad) checkEmpty(ctx context.Context) error {
	c := &Content{engine: Postgres, on: l.pool}
	there, err := c.allTables(ctx)
	if err != nil {
		return err
	}
	if len(there) == 0 {
		return l.checkPermission(ctx)
	}
	versions, err := c.versions(ctx, l.shared.options.Schemas, there)
	if err != nil {
		return err
	}
	known, err := l.shared.options.Latest()
	if err != nil {
		return err
	}
	for schema, version := range versions {
		if version > known[schema] {
			return fault.Conflict("schema_newer", "The database to fill was written by a newer version of countersign; name an empty database")
		}
	}
	return notEmpty(fmt.Sprintf("The PostgreSQL database is not empty: it has the table %s", there[0].Name))
}

// checkPermission is a conflict when the user may not create tables, as nobody but the owner of a
// database may since PostgreSQL 15.
func (l *postgresLoad) checkPermission(ctx context.Context) error {
	var user, schema string
	var may bool
	err := l.pool.QueryRowContext(ctx, `SELECT current_user, coalesce(current_schema()::text, ''),
		coalesce(has_schema_privilege(current_schema(), 'CREATE'), false)`).Scan(&user, &schema, &may)
	if err != nil || may {
		return err
	}
	if schema == "" {
		return fault.Conflict(CodeNoPermission, "The PostgreSQL database has no schema that its user "+user+" can use")
	}
	return fault.Conflict(CodeNoPermission, fmt.Sprintf("The PostgreSQL user %s may not create tables in the schema %s", user, schema))
}
