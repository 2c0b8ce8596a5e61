package keyfile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/sqldb"
)

// CheckName is the name under which a database keeps its key file's check value.
const CheckName = "key_check"

// Location is where a service's key file is.
type Location struct {
	// Service is the one that the location belongs to.
	Service Service
	// Dir is the data folder.
	Dir string
	// KeyText is the text of the key file when it does not lie in Dir.
	KeyText string
	// KeyVariable names what KeyText comes from, for messages.
	KeyVariable string
	// Database is the path of the SQLite file, "" for PostgreSQL.
	Database string
	Log      *slog.Logger
}

// MakeFolder creates a data folder that only its owner may enter, where it is
// missing.
func MakeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fault.WithCause(fault.Unavailable("data_folder", fmt.Sprintf("The data folder %s can't be created (%v)", dir, fault.FileReason(err))), err)
	}
	return nil
}

// Open finds the key file that belongs to a database whose tables are there. A
// new database gets a new key file; one that is missing beside a database with
// content is never replaced by itself. Errors are of kind Conflict, with the code
// key_missing, key_mismatch or key_unreadable, or of kind Unavailable.
func (l *Location) Open(ctx context.Context, db sqldb.Queries) (*Box, error) {
	check, err := db.Meta(ctx, CheckName)
	if err != nil {
		return nil, err
	}
	box, err := l.Load()
	if errors.Is(err, os.ErrNotExist) && check == "" {
		box, err = l.create()
	}
	if check != "" && (err != nil || !box.Matches(check)) {
		if staged := l.FinishReplace(check); staged != nil {
			return staged, nil
		}
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fault.Conflict("key_missing", fmt.Sprintf("The key file %s is missing; this database belongs to the one named %s", l.Path(), KeyName(check)))
	case err != nil:
		return nil, l.Unusable(err)
	case check == "":
		return box, l.adopt(ctx, db, box)
	case !box.Matches(check):
		return nil, l.mismatch(box, check)
	}
	return box, nil
}

// mismatch is the error of a database that has the check value of another key file.
func (l *Location) mismatch(box *Box, check string) error {
	named := fmt.Sprintf("is the one named %s, but this database belongs to the one named %s", KeyName(box.Check()), KeyName(check))
	if l.KeyText == "" {
		return fault.Conflict("key_mismatch", fmt.Sprintf("The key file %s %s; replace it with that one", l.Path(), named))
	}
	message := fmt.Sprintf("The key in %s %s", l.KeyVariable, named)
	if file, err := Load(l.Dir); err == nil && file.Matches(check) {
		message += fmt.Sprintf(", which is the key file %s", filepath.Join(l.Dir, FileName))
	}
	return fault.Conflict("key_mismatch", message)
}

// Unusable distinguishes a key file that can't be read or made from one whose content is
// none; only the second is a reason to replace it.
func (l *Location) Unusable(err error) error {
	if errors.Is(err, ErrNoKeyFile) && l.KeyText != "" {
		return fault.Conflict("key_unreadable", fmt.Sprintf("The value of %s is not a key file: expected one line that begins with %q", l.KeyVariable, filePrefix))
	}
	if errors.Is(err, ErrNoKeyFile) {
		return fault.WithCause(fault.Conflict("key_unreadable", err.Error()), err)
	}
	return fault.WithCause(fault.Unavailable("data_folder", fmt.Sprintf("The key file %s can't be read or created (%v)", l.Path(), fault.FileReason(err))), err)
}

// Path names the key file in messages.
func (l *Location) Path() string {
	if l.KeyText != "" {
		return l.KeyVariable
	}
	return filepath.Join(l.Dir, FileName)
}

// Load reads the key file. The error of a missing one is [os.ErrNotExist].
func (l *Location) Load() (*Box, error) {
	if l.KeyText != "" {
		return Parse(l.KeyText)
	}
	return Load(l.Dir)
}

// create creates the key file; of two processes that do so at once, the second
// takes the first one's.
func (l *Location) create() (*Box, error) {
	box, err := Create(l.Dir)
	if errors.Is(err, os.ErrExist) {
		return Load(l.Dir)
	}
	return box, err
}

// adopt writes the check value of the key file into a new database.
func (l *Location) adopt(ctx context.Context, db sqldb.Queries, box *Box) error {
	return db.DB().Tx(ctx, func(tx sqldb.Queries) error {
		check, err := tx.Meta(ctx, CheckName)
		if err != nil {
			return err
		}
		if check != "" && !box.Matches(check) {
			return fault.Conflict("key_mismatch", "Another process set this database up with another key file at the same time; "+
				"copy its key file "+FileName+" into the data folder "+l.Dir)
		}
		return tx.SetMeta(ctx, CheckName, box.Check())
	})
}

// FinishReplace puts a staged successor of the key file in its place, also one
// of a replacement that was interrupted after its commit. It returns the key file
// that belongs to the database, nil when that is not there.
func (l *Location) FinishReplace(check string) *Box {
	if l.KeyText != "" {
		return nil
	}
	staged, err := LoadStaged(l.Dir)
	if err == nil && staged.Matches(check) {
		err = Replace(l.Dir) // another process may do the same
	}
	placed, loadErr := l.Load()
	if loadErr == nil && placed.Matches(check) {
		return placed
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		l.Log.Error("the new key file could not be put in its place", "cause", err)
	}
	return nil
}

// Same reports, at the end of a transaction that wrote something made with a key
// file, whether the database still belongs to it, and keeps it so until the
// transaction ends.
func Same(ctx context.Context, tx sqldb.Queries, box *Box) (bool, error) {
	check, err := tx.LockMeta(ctx, CheckName)
	return err == nil && box.Matches(check), err
}
