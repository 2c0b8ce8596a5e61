package keyfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/regular"
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
		if placed, notPlaced := l.FinishReplace(check); placed != nil || notPlaced != nil {
			return placed, notPlaced
		}
	}
	if err := l.compare(box, err, check); err != nil {
		return nil, err
	}
	if check == "" {
		return box, l.adopt(ctx, db, box)
	}
	return box, nil
}

// meta reads named values of a database.
type meta interface {
	Meta(ctx context.Context, name string) (string, error)
}

// CheckKey is the error of [Location.Open] when the key file does not belong to the database,
// or can't be read. It writes nothing. A database that can't be read is no error of it.
func (l *Location) CheckKey(ctx context.Context, db meta) error {
	check, err := db.Meta(ctx, CheckName)
	if err != nil {
		return onlyConflict(err)
	}
	box, err := l.Load()
	if errors.Is(err, os.ErrNotExist) && check == "" {
		return nil // it will be created
	}
	if staged, err := LoadStaged(l.Dir); l.KeyText == "" && err == nil && staged.Matches(check) {
		return nil // it will be put in its place
	}
	return l.compare(box, err, check)
}

// compare returns an error unless a key file, which was loaded with an error or nil, belongs
// to a check value; every one does to "".
func (l *Location) compare(box *Box, err error, check string) error {
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fault.Conflict("key_missing", fmt.Sprintf("The key file %s is missing; this database belongs to the one named %s", l.Path(), KeyName(check)))
	case err != nil:
		return l.Unusable(err)
	case check != "" && !box.Matches(check):
		return l.mismatch(box, check)
	}
	return nil
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
		return fault.Conflict("key_unreadable", fmt.Sprintf("The file %s is not a key file: expected one line that begins with %q", l.Path(), filePrefix))
	}
	return fault.WithCause(fault.Unavailable("data_folder", fmt.Sprintf("The key file %s can't be read or created (%v)", l.Path(), fault.FileReason(err))), err)
}

// UnusedKey returns the path of a key file in the data folder that is another key than box, the
// one from the environment, and "" when there is none.
func (l *Location) UnusedKey(box *Box) string {
	file, err := Load(l.Dir)
	if l.KeyText == "" || err != nil || file.Matches(box.Check()) {
		return ""
	}
	return filepath.Join(l.Dir, FileName)
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
// that belongs to the database, nil when that is not there. A successor that belongs to
// the database and could not be put in its place is a conflict (key_not_placed).
func (l *Location) FinishReplace(check string) (*Box, error) {
	if l.KeyText != "" {
		return nil, nil
	}
	staged, err := LoadStaged(l.Dir)
	var notPlaced error
	if err == nil && staged.Matches(check) {
		notPlaced = Replace(l.Dir) // another process may do the same
	}
	placed, err := l.Load()
	if err == nil && placed.Matches(check) {
		return placed, nil
	}
	if notPlaced != nil {
		return nil, l.notPlaced(notPlaced)
	}
	return nil, nil
}

// Same is [ErrReplaced], at the end of a transaction that wrote something made with a key
// file, unless the database still belongs to it, and keeps it so until the
// transaction ends.
func Same(ctx context.Context, tx sqldb.Queries, box *Box) error {
	check, err := tx.ShareMeta(ctx, CheckName)
	if err == nil && !box.Matches(check) {
		return ErrReplaced
	}
	return err
}

// Text is the text of the key file that has a check value. Errors are those of [Location.Open].
func (l *Location) Text(check string) (string, error) {
	box, err := l.Load()
	if err := l.compare(box, err, check); err != nil {
		return "", err
	}
	if l.KeyText != "" {
		return l.KeyText, nil
	}
	text, err := regular.Read(filepath.Join(l.Dir, FileName), maxText)
	return string(text), err
}
