package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// Table is a table of the schemas and the names of its columns.
type Table struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
}

// Content is all rows of a database at one moment.
type Content struct {
	// Versions are the applied versions of the schemas, by the schema's name.
	Versions map[string]int64
	// Tables are those that the schemas have at these versions, by name.
	Tables []Table
	// Sequences are the last numbers that tables gave to rows, by the table's name. A row
	// that was removed may have had a higher one than those that are there.
	Sequences map[string]int64

	engine Engine
	on     runner
}

// Content runs fn on the database as it is at one moment. Others go on writing meanwhile.
//
// On SQLite it reads a copy of the file, which it makes in dir and removes at the end: an
// open snapshot would keep the write-ahead log from being reset for as long as fn takes. On
// PostgreSQL it reads in one transaction, which sees all tables as they were at its begin.
func (db *DB) Content(ctx context.Context, dir string, fn func(*Content) error) error {
	if db.engine == Postgres {
		return db.Snapshot(ctx, func(q Queries) error { return db.content(ctx, q.tx.sql, fn) })
	}
	path, err := db.copyFile(ctx, dir)
	if err != nil {
		return err
	}
	defer os.Remove(path)
	pool, err := openSQLitePool(readerDSN(path), func() error { return nil })
	if err != nil {
		return err
	}
	defer pool.Close()
	return db.copied(path).content(ctx, pool, fn)
}

// copied is what reads a copy of the database. A fault of the disk with the copy is not one of the
// database.
func (db *DB) copied(path string) *shared {
	return &shared{engine: SQLite, options: Options{Path: path, Schemas: db.options.Schemas, Log: slog.New(slog.DiscardHandler)}}
}

// copyFile copies the SQLite file as it is now into a folder. The connection is its own: it
// takes no write lock, and no reader waits for it.
func (db *DB) copyFile(ctx context.Context, dir string) (path string, err error) {
	f, err := os.CreateTemp(dir, filepath.Base(db.options.Path)+".copy-*") // mode 0600
	if err != nil {
		return "", err
	}
	path = f.Name()
	if err := f.Close(); err != nil {
		return "", err
	}
	pool, err := openSQLitePool(dsn(db.options.Path, url.Values{"_pragma": {"busy_timeout(5000)"}}), db.checkFiles)
	if err != nil {
		return "", err
	}
	defer pool.Close()
	if _, err = pool.ExecContext(ctx, `VACUUM INTO $1`, path); err != nil { // into an empty file
		_ = os.Remove(path)
		return "", db.copyError(path, err)
	}
	return path, nil
}

// copyError is the error of a copy that failed. A fault that may be that of the folder of the copy
// leaves the writes of the database on.
func (db *DB) copyError(path string, err error) error {
	if lite, ok := errors.AsType[*sqlite.Error](err); ok {
		return db.copyFault(path, err, lite.Code())
	}
	return db.wrap(err)
}

func (db *DB) copyFault(path string, err error, code int) error {
	why := ""
	switch code & 0xff {
	case lib.SQLITE_FULL:
		why = "The disk of that folder is full"
	case lib.SQLITE_READONLY:
		why = "That folder is read-only"
	case lib.SQLITE_CANTOPEN:
		why = "The file or its copy can't be opened"
	case lib.SQLITE_IOERR:
		why = "The disk of the file or of its copy failed"
	default:
		return db.wrapSQLite(err, code)
	}
	return unavailable(fmt.Sprintf("The database file %s can't be copied into the folder %s. %s", db.options.Path, filepath.Dir(path), why), err)
}

func (s *shared) content(ctx context.Context, on runner, fn func(*Content) error) error {
	c, err := s.contentOn(ctx, on, s.options.ownTables)
	if err != nil {
		return err
	}
	return s.wrap(fn(c))
}

// contentOn is the content that a connection reads. own selects the tables of the schemas.
func (s *shared) contentOn(ctx context.Context, on runner, own func(context.Context, map[string]int64, []Table) ([]Table, error)) (*Content, error) {
	c := &Content{engine: s.engine, on: on}
	there, err := c.allTables(ctx)
	if err == nil {
		c.Versions, err = c.versions(ctx, s.options.Schemas, there)
	}
	if err == nil {
		c.Tables, err = own(ctx, c.Versions, there)
	}
	if err == nil {
		c.Sequences, err = c.sequences(ctx)
	}
	return c, s.wrap(err)
}

// Count is the number of rows of a table.
func (c *Content) Count(ctx context.Context, t Table) (n int64, err error) {
	err = c.on.QueryRowContext(ctx, "SELECT count(*) FROM "+quote(t.Name)).Scan(&n)
	return n, err
}

// Rows calls fn with the values of every row of a table, in the order of its columns: nil,
// bool, int64, string or []byte. They are valid until fn returns.
func (c *Content) Rows(ctx context.Context, t Table, fn func([]any) error) error {
	types, err := columnTypes(ctx, c.on, c.engine, t)
	if err != nil {
		return err
	}
	values, dest := make([]any, len(t.Columns)), make([]any, len(t.Columns))
	for i := range values {
		dest[i] = &values[i]
	}
	scan := func(r Row) ([]any, error) {
		if err := r.Scan(dest...); err != nil {
			return nil, err
		}
		return values, convertRow(t, types, values)
	}
	return each(ctx, c.on, scan, fn, "SELECT "+quoteAll(t.Columns)+" FROM "+quote(t.Name))
}

// allTables lists all tables of the database, also those that are not of the schemas.
func (c *Content) allTables(ctx context.Context) ([]Table, error) {
	query := `SELECT m.name, c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY m.name, c.cid`
	if c.engine == Postgres {
		query = `SELECT c.relname::text, a.attname::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
			WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace AND a.attnum > 0 AND NOT a.attisdropped
			ORDER BY c.relname COLLATE "C", a.attnum`
	}
	var tables []Table
	type column struct{ table, name string }
	scan := func(r Row) (one column, err error) {
		err = r.Scan(&one.table, &one.name)
		return one, err
	}
	err := each(ctx, c.on, scan, func(one column) error {
		if n := len(tables); n == 0 || tables[n-1].Name != one.table {
			tables = append(tables, Table{Name: one.table})
		}
		last := &tables[len(tables)-1]
		last.Columns = append(last.Columns, one.name)
		return nil
	}, query)
	return tables, err
}

// versions reads the applied version of each schema that has tables.
func (c *Content) versions(ctx context.Context, schemas []Schema, there []Table) (map[string]int64, error) {
	versions := map[string]int64{}
	for _, s := range schemas {
		name := versionTable(s.Name)
		if !slices.ContainsFunc(there, func(t Table) bool { return t.Name == name }) {
			continue
		}
		var version int64
		if err := c.on.QueryRowContext(ctx, `SELECT max(version_id) FROM `+name).Scan(&version); err != nil {
			return nil, err
		}
		versions[s.Name] = version
	}
	return versions, nil
}

// sequences reads the last number of every table that numbers its rows.
func (c *Content) sequences(ctx context.Context) (map[string]int64, error) {
	last := map[string]int64{}
	if c.engine == SQLite {
		type numbered struct {
			table string
			last  int64
		}
		scan := func(r Row) (n numbered, err error) {
			err = r.Scan(&n.table, &n.last)
			return n, err
		}
		err := each(ctx, c.on, scan, func(n numbered) error {
			last[n.table] = n.last
			return nil
		}, `SELECT name, seq FROM sqlite_sequence`)
		return last, err
	}
	owned, err := list(ctx, c.on, scanSequence, selectSequences)
	for _, s := range owned {
		var number int64
		if err == nil {
			err = c.on.QueryRowContext(ctx, `SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END FROM `+quote(s.name)).Scan(&number)
		}
		last[s.table] = number
	}
	return last, err
}

// sequence is one of PostgreSQL's, and the column that it numbers.
type sequence struct{ name, table, column string }

const selectSequences = `SELECT s.relname::text, t.relname::text, a.attname::text FROM pg_class s
	JOIN pg_depend d ON d.objid = s.oid AND d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
	JOIN pg_class t ON t.oid = d.refobjid JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = d.refobjsubid
	WHERE s.relkind = 'S' AND t.relnamespace = current_schema()::regnamespace ORDER BY s.relname`

func scanSequence(r Row) (s sequence, err error) {
	err = r.Scan(&s.name, &s.table, &s.column)
	return s, err
}

// ownTables selects of the tables that are there those that the schemas have at some
// versions. What the schemas have is found by migrating an empty database. One that is not
// there is an error.
func (o Options) ownTables(ctx context.Context, versions map[string]int64, there []Table) ([]Table, error) {
	names, err := o.tableNames(ctx, versions)
	if err != nil {
		return nil, err
	}
	own := slices.DeleteFunc(slices.Clone(there), func(t Table) bool { return !slices.Contains(names, t.Name) })
	if len(own) != len(names) {
		return nil, fmt.Errorf("sqldb: the database lacks tables: it has %d of %d", len(own), len(names))
	}
	return own, nil
}

// tableNames lists the tables that the schemas have at some versions, without the lists of versions.
func (o Options) tableNames(ctx context.Context, versions map[string]int64) ([]string, error) {
	pool, err := openSQLitePool(":memory:", func() error { return nil })
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	pool.SetMaxOpenConns(1) // each has a database of its own
	if err := o.migrateTo(ctx, SQLite, pool, versions); err != nil {
		return nil, err
	}
	c := &Content{engine: SQLite, on: pool}
	all, err := c.allTables(ctx)
	return slices.DeleteFunc(Convert(all, func(t Table) string { return t.Name }), o.isList), err
}

// madeTables is ownTables in a file that has no tables but those that its migrations made.
func (o Options) madeTables(_ context.Context, _ map[string]int64, there []Table) ([]Table, error) {
	return slices.DeleteFunc(slices.Clone(there), func(t Table) bool { return o.isList(t.Name) }), nil
}

// isList reports whether a table is a list of SQLite's, or of the versions of a schema.
func (o Options) isList(name string) bool {
	return strings.HasPrefix(name, "sqlite_") || slices.ContainsFunc(o.Schemas, func(s Schema) bool { return name == versionTable(s.Name) })
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func quoteAll(names []string) string { return strings.Join(Convert(names, quote), ", ") }

// Meta is that of [Queries.Meta].
func (c *Content) Meta(ctx context.Context, name string) (value string, err error) {
	err = c.on.QueryRowContext(ctx, `SELECT value FROM meta WHERE name = $1`, name).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return value, err
}
