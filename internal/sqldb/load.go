package sqldb

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/fault"
)

// CodeBadContent is the code of the error of rows that do not fit the tables.
const CodeBadContent = "content_not_usable"

// Load fills the tables of a database that nobody else sees yet. They have no foreign keys
// and no triggers meanwhile: rows come in any order, and what triggers wrote is among them.
type Load interface {
	// Table appends rows to a table. next returns the values of the next row, as
	// [Content.Rows] does, and nil after the last.
	Table(ctx context.Context, t Table, next func() ([]any, error)) error
	// Content is what was loaded so far.
	Content(ctx context.Context) (*Content, error)
}

// Build is how a database is filled.
type Build struct {
	// Versions are those of the schemas whose tables it gets.
	Versions map[string]int64
	// Sequences are numbers of rows, by the table's name. New rows get higher ones.
	Sequences map[string]int64
	// Fill fills the tables.
	Fill func(Load) error
	// Finish changes the filled database before anybody else sees it; nil for nothing.
	Finish func(*DB) error
}

// BuildFile makes a SQLite file. What is at the path is replaced. After an error the file is of
// no use.
func BuildFile(ctx context.Context, o Options, b Build) error {
	o.Schemas = append([]Schema{ownSchema}, o.Schemas...)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if err := removeFiles(o.Path); err != nil {
		return err
	}
	if err := makeFile(o.Path); err != nil {
		return err
	}
	s := &shared{engine: SQLite, options: o}
	pool, err := openSQLitePool(buildDSN(o.Path), func() error { return nil })
	if err != nil {
		return err
	}
	defer pool.Close()
	pool.SetMaxOpenConns(1)
	l := &fileLoad{pool: pool, shared: s}
	err = o.migrateTo(ctx, SQLite, pool, b.Versions)
	if err == nil {
		err = l.fill(ctx, b)
	}
	if err == nil && b.Finish != nil {
		err = b.Finish(s.built(pool))
	}
	if err != nil {
		return s.wrap(err)
	}
	if err := pool.Close(); err != nil {
		return s.wrap(err)
	}
	return syncFile(o.Path)
}

// fileLoad loads into a SQLite file.
type fileLoad struct {
	pool   *sql.DB
	shared *shared
}

// built is a database that is being built, on its only connection.
func (s *shared) built(pool *sql.DB) *DB {
	return &DB{shared: s, read: pool, write: pool, writers: newWriters(pool, 1), limits: sessionLimits(s.options), session: true}
}

// fill empties the tables, of what migrations wrote too, and makes indexes and triggers at the
// end: in that order the first are made faster, and the second do nothing.
func (l *fileLoad) fill(ctx context.Context, b Build) error {
	later, err := list(ctx, l.pool, scanDefinition, `SELECT type, name, sql FROM sqlite_schema WHERE type IN ('index', 'trigger') AND sql IS NOT NULL`)
	if err != nil {
		return err
	}
	for _, d := range later {
		if _, err := l.pool.ExecContext(ctx, "DROP "+d.kind+" "+quote(d.name)); err != nil {
			return err
		}
	}
	c, err := l.Content(ctx)
	if err != nil {
		return err
	}
	for _, t := range c.Tables {
		if _, err := l.pool.ExecContext(ctx, "DELETE FROM "+quote(t.Name)); err != nil {
			return err
		}
	}
	if err := b.Fill(l); err != nil {
		return err
	}
	for _, d := range later {
		if _, err := l.pool.ExecContext(ctx, d.text); err != nil {
			return contentError(err)
		}
	}
	if err := l.setSequences(ctx, b.Sequences); err != nil {
		return err
	}
	return l.check(ctx)
}

// definition is the text that makes an index or a trigger.
type definition struct{ kind, name, text string }

func scanDefinition(r Row) (d definition, err error) {
	err = r.Scan(&d.kind, &d.name, &d.text)
	return d, err
}

// setSequences lets tables that number their rows go on above the numbers given before.
func (l *fileLoad) setSequences(ctx context.Context, sequences map[string]int64) error {
	counting, err := list(ctx, l.pool, Value[string], `SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'`)
	if err != nil {
		return err
	}
	c := Content{engine: SQLite, on: l.pool}
	used, err := c.sequences(ctx)
	for _, table := range counting {
		if err == nil {
			_, err = l.pool.ExecContext(ctx, `DELETE FROM sqlite_sequence WHERE name = $1`, table)
		}
		if last := max(used[table], sequences[table]); err == nil && last > 0 {
			_, err = l.pool.ExecContext(ctx, `INSERT INTO sqlite_sequence (name, seq) VALUES ($1, $2)`, table, last)
		}
	}
	return err
}

// check returns an error when rows refer to others that are not there.
func (l *fileLoad) check(ctx context.Context) error {
	type broken struct {
		table, parent string
		row           sql.NullInt64
		key           int64
	}
	scan := func(r Row) (b broken, err error) {
		err = r.Scan(&b.table, &b.row, &b.parent, &b.key)
		return b, err
	}
	found, err := list(ctx, l.pool, scan, `SELECT "table", rowid, parent, fkid FROM pragma_foreign_key_check LIMIT 1`)
	if err == nil && len(found) > 0 {
		err = badContent(fmt.Errorf("a row of %s refers to a row of %s that does not exist", found[0].table, found[0].parent))
	}
	return err
}

// Table is that of [Load].
func (l *fileLoad) Table(ctx context.Context, t Table, next func() ([]any, error)) error {
	types, err := columnTypes(ctx, l.pool, SQLite, t)
	if err != nil {
		return err
	}
	tx, err := l.pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after an error the file is removed
	stmt, err := tx.PrepareContext(ctx, "INSERT INTO "+quote(t.Name)+" ("+quoteAll(t.Columns)+") VALUES "+Placeholders(1, len(t.Columns), 1))
	if err != nil {
		return err
	}
	defer stmt.Close()
	for {
		values, err := next()
		if err != nil {
			return err
		}
		if values == nil {
			return tx.Commit()
		}
		if err := convertRow(t, types, values); err != nil {
			return err
		}
		if _, err := stmt.ExecContext(ctx, values...); err != nil {
			return contentError(err)
		}
	}
}

// Content is that of [Load].
func (l *fileLoad) Content(ctx context.Context) (*Content, error) {
	return l.shared.contentOn(ctx, l.pool, l.shared.options.madeTables)
}

// columnTypes returns the declared types of a table's columns in lower case. A table or a column
// that is not there is an error.
func columnTypes(ctx context.Context, on runner, engine Engine, t Table) ([]string, error) {
	query := `SELECT name, lower(type) FROM pragma_table_info($1)`
	if engine == Postgres {
		query = `SELECT a.attname::text, format_type(a.atttypid, NULL) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
			WHERE c.relname = $1 AND c.relnamespace = current_schema()::regnamespace AND a.attnum > 0 AND NOT a.attisdropped`
	}
	type column struct{ name, kind string }
	scan := func(r Row) (one column, err error) {
		err = r.Scan(&one.name, &one.kind)
		return one, err
	}
	columns, err := list(ctx, on, scan, query, t.Name)
	if err != nil {
		return nil, err
	}
	if len(columns) != len(t.Columns) {
		return nil, badContent(fmt.Errorf("the table %s has %d columns, expected %d", t.Name, len(t.Columns), len(columns)))
	}
	types := make([]string, len(t.Columns))
	for i, name := range t.Columns {
		at := slices.IndexFunc(columns, func(c column) bool { return c.name == name })
		if at < 0 || slices.Contains(t.Columns[:i], name) {
			return nil, badContent(fmt.Errorf("the table %s has no column %q", t.Name, name))
		}
		types[i] = columns[at].kind
	}
	return types, nil
}

// convertRow brings values into the types of their columns: an engine may have kept a text as
// bytes, or a truth value as a number.
func convertRow(t Table, types []string, values []any) error {
	if len(values) != len(types) {
		return badContent(fmt.Errorf("a row of %s has %d values, expected %d", t.Name, len(values), len(types)))
	}
	for i, v := range values {
		fits := true
		switch v := v.(type) {
		case nil:
		case bool:
			fits = types[i] == "boolean"
		case int64:
			if types[i] == "boolean" && (v == 0 || v == 1) {
				values[i] = v == 1
			} else {
				fits = types[i] == "bigint" || types[i] == "integer"
			}
		case string:
			if fits = types[i] == "text"; !fits && isBytes(types[i]) {
				values[i], fits = []byte(v), true
			}
		case []byte:
			switch fits = isBytes(types[i]); {
			case fits && v == nil: // SQLite's driver returns no bytes so, and PostgreSQL's takes it for NULL
				values[i] = []byte{}
			case types[i] == "text":
				values[i], fits = string(v), true
			}
		default:
			fits = false
		}
		if !fits {
			return badContent(fmt.Errorf("column %s of %s holds %s, got a value of type %T", t.Columns[i], t.Name, types[i], v))
		}
	}
	return nil
}

func isBytes(kind string) bool { return kind == "blob" || kind == "bytea" }

// badContent is the error of content that can't be loaded.
func badContent(cause error) error {
	return fault.WithCause(fault.Invalid(CodeBadContent, "The content does not fit the tables: "+strings.TrimPrefix(cause.Error(), "sqldb: ")), cause)
}
