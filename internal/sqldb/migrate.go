package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var ownFiles embed.FS

var ownSchema = Schema{Name: "countersign", Files: ownFiles}

// State compares the tables with the migrations of this build.
type State string

// The states of a database.
const (
	// StateEmpty has none of our tables.
	StateEmpty State = "empty"
	// StateOlder lacks migrations that this build has.
	StateOlder State = "older"
	// StateCurrent is as this build expects.
	StateCurrent State = "current"
	// StateNewer was migrated by a later build.
	StateNewer State = "newer"
)

// Migration is one step and whether the database has it.
type Migration struct {
	Schema  string `json:"schema"`
	Version int64  `json:"version"`
	Name    string `json:"name"`
	Applied bool   `json:"applied"`
}

// State reads the applied versions. It writes nothing.
func (db *DB) State(ctx context.Context) (State, error) {
	older, newer, some := false, false, false
	for _, s := range db.options.Schemas {
		steps, applied, err := db.migrations(ctx, s)
		if err != nil {
			return "", err
		}
		last := steps[len(steps)-1].Version
		some = some || applied > 0
		older = older || applied < last
		newer = newer || applied > last
	}
	switch {
	case !some:
		return StateEmpty, nil
	case newer:
		return StateNewer, nil
	case older:
		return StateOlder, nil
	}
	return StateCurrent, nil
}

// Migrations lists every step of every schema in the order they are run.
func (db *DB) Migrations(ctx context.Context) ([]Migration, error) {
	var all []Migration
	for _, s := range db.options.Schemas {
		steps, _, err := db.migrations(ctx, s)
		if err != nil {
			return nil, err
		}
		all = append(all, steps...)
	}
	return all, nil
}

// Migrate brings all tables to this build's version, one process at a time.
func (db *DB) Migrate(ctx context.Context) error {
	if err := db.writable(); err != nil {
		return err
	}
	pool := db.write
	if db.engine == Postgres { // connections that wait for a lock as long as it takes
		pool = db.primary.openPool(0)
		defer pool.Close()
	}
	unlock, err := db.lockMigrations(ctx, pool)
	if err != nil {
		return err
	}
	defer unlock()
	for _, s := range db.options.Schemas {
		if _, err := db.applied(ctx, s); err != nil { // goose takes a table that can't be read for one that is missing
			return err
		}
		if err := db.migrate(ctx, pool, s); err != nil {
			return fmt.Errorf("sqldb: migrate %s: %w", s.Name, db.wrap(err))
		}
	}
	return nil
}

func (db *DB) migrate(ctx context.Context, pool *sql.DB, s Schema) error {
	provider, err := newProvider(db.engine, pool, s)
	if err != nil {
		return err
	}
	if err := db.workBefore(ctx, provider, s); err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return err
}

// step is one file of a schema: NNNNN_name.sql serves both engines, NNNNN_name.sqlite.sql and
// .postgres.sql one.
type step struct {
	version int64
	name    string
	text    string
}

// steps lists the steps of a schema for one engine, the first version first.
func (s Schema) steps(engine Engine) ([]step, error) {
	other := Postgres
	if engine == Postgres {
		other = SQLite
	}
	folder := cmp.Or(s.Folder, "migrations")
	files, err := fs.ReadDir(s.Files, folder)
	if err != nil {
		return nil, err
	}
	var list []step
	for _, f := range files { // by name, and so by version
		if strings.HasSuffix(f.Name(), "."+string(other)+".sql") {
			continue
		}
		text, err := fs.ReadFile(s.Files, path.Join(folder, f.Name()))
		if err != nil {
			return nil, err
		}
		version, err := goose.NumericComponent(f.Name())
		if err != nil {
			return nil, err
		}
		name, _, _ := strings.Cut(f.Name(), ".")
		list = append(list, step{version: version, name: name, text: string(text)})
	}
	return list, nil
}

// newProvider runs each step as one script: both drivers read the statements of one, and for
// goose's own reader every line costs 4 MB under the race detector.
func newProvider(engine Engine, pool *sql.DB, s Schema) (*goose.Provider, error) {
	steps, err := s.steps(engine)
	if err != nil {
		return nil, err
	}
	dialect := goose.DialectSQLite3
	if engine == Postgres {
		dialect = goose.DialectPostgres
	}
	var list []*goose.Migration
	for _, step := range steps {
		list = append(list, goose.NewGoMigration(step.version, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, step.text); err != nil {
				return fmt.Errorf("%s: %w", step.name, err)
			}
			return nil
		}}, nil))
	}
	return goose.NewProvider(dialect, pool, nil,
		goose.WithTableName(versionTable(s.Name)), goose.WithGoMigrations(list...), goose.WithDisableGlobalRegistry(true))
}

// versionTable is the table with the applied versions of a schema.
func versionTable(schema string) string { return schema + "_versions" }

// migrateTo makes the tables of the schemas at some versions in an empty database, without the
// work on rows that is done before steps. A schema that has no version gets no table.
func (o Options) migrateTo(ctx context.Context, engine Engine, pool *sql.DB, versions map[string]int64) error {
	for _, s := range o.Schemas {
		if versions[s.Name] == 0 {
			continue
		}
		provider, err := newProvider(engine, pool, s)
		if err == nil {
			_, err = provider.UpTo(ctx, versions[s.Name])
		}
		if err != nil {
			return fmt.Errorf("sqldb: make the tables of %s: %w", s.Name, err)
		}
	}
	return nil
}

// workBefore runs the steps before each work that the database lacks, and then that work.
func (db *DB) workBefore(ctx context.Context, provider *goose.Provider, s Schema) error {
	progress := db.options.Progress
	if progress == nil {
		progress = func(int64, int64) {}
	}
	for _, version := range slices.Sorted(maps.Keys(s.Before)) {
		applied, err := db.applied(ctx, s)
		if err != nil || applied >= version {
			return err
		}
		if _, err := provider.UpTo(ctx, version-1); err != nil {
			return err
		}
		if err := db.Session(ctx, func(session *DB) error { return s.Before[version](ctx, session, progress) }); err != nil {
			return err
		}
	}
	return nil
}

// migrations lists the steps of one schema, and returns the last one that the database has.
func (db *DB) migrations(ctx context.Context, s Schema) (list []Migration, applied int64, err error) {
	steps, err := s.steps(db.engine)
	if err != nil {
		return nil, 0, fmt.Errorf("sqldb: schema %s: %w", s.Name, err)
	}
	if applied, err = db.applied(ctx, s); err != nil {
		return nil, 0, err
	}
	for _, step := range steps {
		list = append(list, Migration{Schema: s.Name, Version: step.version, Name: step.name, Applied: step.version <= applied})
	}
	return list, applied, nil
}

// applied is the highest version of a schema that the database has, 0 for none.
func (db *DB) applied(ctx context.Context, s Schema) (int64, error) {
	var version sql.NullInt64
	err := db.wrap(db.withConn(ctx, func(ctx context.Context, on runner) error {
		return on.QueryRowContext(ctx, `SELECT max(version_id) FROM `+s.Name+`_versions`).Scan(&version)
	}))
	if errors.Is(err, errNoTable) {
		return 0, nil
	}
	return version.Int64, err
}

// HasSchema reports whether the database has tables of a schema.
func (db *DB) HasSchema(ctx context.Context, name string) (bool, error) {
	applied, err := db.applied(ctx, Schema{Name: name})
	return applied > 0, err
}

// migrationsLock is the number of the lock on PostgreSQL held while tables are created.
const migrationsLock = 0x636f756e74 // "count"

// lockMigrations lets one process migrate at a time.
func (db *DB) lockMigrations(ctx context.Context, pool *sql.DB) (unlock func(), err error) {
	if db.engine == SQLite {
		lock := flock.New(db.options.Path + ".migrate.lock")
		if _, err := lock.TryLockContext(ctx, 50*time.Millisecond); err != nil {
			return nil, fmt.Errorf("sqldb: migrate: %w", err)
		}
		return func() { _ = lock.Close() }, nil
	}
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, db.wrap(err)
	}
	if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_lock($1)`, migrationsLock); err != nil {
		return nil, errors.Join(db.wrap(err), conn.Close())
	}
	return func() {
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, migrationsLock)
		_ = conn.Close()
	}, nil
}

// Latest returns the versions of the schemas that this build makes, by the schema's name.
func (o Options) Latest() (map[string]int64, error) {
	latest := map[string]int64{}
	for _, s := range append([]Schema{ownSchema}, o.Schemas...) {
		steps, err := s.steps(SQLite) // both engines have the same versions
		if err != nil {
			return nil, err
		}
		latest[s.Name] = steps[len(steps)-1].version
	}
	return latest, nil
}
