package instance

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/sqldb"
)

// Product is what the store and the addon do not have in common.
type Product struct {
	Service keyfile.Service
	// Schemas is the migrations of its database, in order.
	Schemas []sqldb.Schema
	// Files are names of further files that show that an instance begins in a data folder.
	Files []string
	// Workspaces reports that entries of its audit log are about workspaces.
	Workspaces bool
	// Migrate is the command that brings its tables to this version.
	Migrate string
}

// DatabaseName is the SQLite file's name in the data folder.
func (p Product) DatabaseName() string { return string(p.Service) + ".db" }

// Begun reports whether a folder holds an instance, or what is left of one: its database, its key file or a file that
// the product names. It says yes when it can't tell.
func (p Product) Begun(dir string) bool {
	for _, name := range append([]string{p.DatabaseName(), keyfile.FileName}, p.Files...) {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
			return true
		}
	}
	return false
}

// Check is an error of kind Conflict when the data folder or the database is another
// service's, or the folder lost its database. It writes nothing and makes no file.
func (p Product) Check(ctx context.Context, o Options) error {
	return p.location(o).Check(ctx, p.database(o))
}

// CheckAll is Check, and also an error when the key file does not belong to the database.
func (p Product) CheckAll(ctx context.Context, o Options) error {
	return p.location(o).CheckAll(ctx, p.database(o))
}

// Backups is what verifies and restores backups of an instance, which need not exist.
func (p Product) Backups(o Options) *backup.Service {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &backup.Service{Location: p.location(o), Database: p.database(o), Now: o.Now}
}

func (p Product) location(o Options) *keyfile.Location {
	return &keyfile.Location{Service: p.Service, Dir: o.Dir, KeyText: o.KeyText, KeyVariable: o.KeyVariable}
}

func (p Product) database(o Options) sqldb.Options {
	return sqldb.Options{
		URL: o.URL, Path: filepath.Join(o.Dir, p.DatabaseName()), NoCreate: o.NoCreate, Schemas: p.Schemas, Log: o.Log, Longer: o.Longer, Lock: o.Lock, Progress: o.Progress,
	}
}
