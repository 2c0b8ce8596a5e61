package keyfile

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/sqldb"
)

// Service is a service with a data folder and a database of its own. Its name begins the
// names of its files, and is that of its schema.
type Service string

// The services.
const (
	Store Service = "store"
	Addon Service = "addon"
)

// files are patterns of the files that only this service leaves in a data folder. The
// database comes first.
func (s Service) files() []string {
	list := []string{string(s) + ".db", string(s) + ".commits", filepath.Join("backups", string(s)+"-*Z*")}
	if s == Addon {
		list = append(list, "update.lock", "setup-token", "update-token")
	}
	return list
}

// other is the service that this one may be mistaken for.
func (s Service) other() Service {
	if s == Store {
		return Addon
	}
	return Store
}

// title is the service in a message, with its article.
func (s Service) title() string {
	return map[Service]string{Store: "a store", Addon: "an addon"}[s]
}

// foundIn returns a file of the service in a data folder, "" when there is none.
func (s Service) foundIn(dir string) string {
	for _, pattern := range s.files() {
		if found, _ := filepath.Glob(filepath.Join(globEscaped(dir), pattern)); len(found) > 0 {
			return found[0]
		}
	}
	return ""
}

// globEscaped makes a pattern that matches a path alone.
func globEscaped(path string) string {
	var escaped []rune
	for _, r := range path {
		if r == '*' || r == '?' || r == '[' || r == '\\' {
			escaped = append(escaped, '\\')
		}
		escaped = append(escaped, r)
	}
	return string(escaped)
}

// CheckAll is [Location.Check], and also the error of [Location.CheckKey]. It writes nothing and
// makes no file.
func (l *Location) CheckAll(ctx context.Context, o sqldb.Options) error {
	return l.examine(ctx, o, l.CheckKey)
}

// Check is an error of kind Conflict when the data folder or the database is that of
// another service (code other_service), or lost its database ([IsDatabaseMissing]). It
// writes nothing and makes no file: call it before the folder is made or locked. A database
// that can't be read is no error of it.
func (l *Location) Check(ctx context.Context, o sqldb.Options) error {
	return l.examine(ctx, o, func(context.Context, meta) error { return nil })
}

// examine is Check with a further check of the database's values.
func (l *Location) examine(ctx context.Context, o sqldb.Options, further func(context.Context, meta) error) error {
	if err := l.checkFolder(ctx, o.URL, o.Path); err != nil {
		return err
	}
	if o.URL == "" {
		return further(ctx, unopened(o.Path))
	}
	db, err := sqldb.Open(ctx, o) // writes nothing
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err = l.State(ctx, db); err != nil {
		return onlyConflict(err)
	}
	return further(ctx, db.Queries())
}

// unopened is the path of a SQLite file that is read without being opened for writing.
type unopened string

// Meta is that of [sqldb.FileMeta].
func (path unopened) Meta(ctx context.Context, name string) (string, error) {
	return sqldb.FileMeta(ctx, string(path), name), nil
}

// onlyConflict is an error that stays, whatever else becomes of the database.
func onlyConflict(err error) error {
	if fault.HasKind(err, countersign.KindConflict) {
		return err
	}
	return nil
}

// checkFolder is Check for the folder and the SQLite file in it. A folder that both services
// have used is each one's.
func (l *Location) checkFolder(ctx context.Context, url, path string) error {
	if found := l.Service.other().foundIn(l.Dir); found != "" && l.Service.foundIn(l.Dir) == "" {
		return l.otherService(fmt.Sprintf("The data folder %s belongs to %s, not to %s: it contains %s", l.Dir, l.Service.other().title(), l.Service.title(), found))
	}
	if url != "" {
		return nil
	}
	l.Database = path
	if sqldb.FileHasSchema(ctx, path, string(l.Service.other())) && !sqldb.FileHasSchema(ctx, path, string(l.Service)) {
		return l.otherDatabase()
	}
	return l.FindDatabase()
}

// checkOwner is an error when a database has the tables of another service, and none of this
// one.
func (l *Location) checkOwner(ctx context.Context, db *sqldb.DB) error {
	for _, s := range []Service{l.Service, l.Service.other()} {
		if there, err := db.HasSchema(ctx, string(s)); err != nil || there {
			if err == nil && s != l.Service {
				err = l.otherDatabase()
			}
			return err
		}
	}
	return nil
}

func (l *Location) otherDatabase() error {
	what := "PostgreSQL database"
	if l.Database != "" {
		what = "database " + l.Database
	}
	return l.otherService(fmt.Sprintf("The %s belongs to %s, not to %s", what, l.Service.other().title(), l.Service.title()))
}

func (l *Location) otherService(what string) error {
	return fault.Conflict("other_service", what+". Nothing was changed")
}
