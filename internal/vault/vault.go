// Package vault joins a data folder's key file with the database that belongs to
// it: the database keeps a check value of its key file, and a service whose key
// file does not match does not start.
package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/seal"
	"github.com/countersign/countersign/internal/sqldb"
)

// CheckName is the name under which a database keeps its key file's check value.
const CheckName = "key_check"

// Vault says where a service's key file is.
type Vault struct {
	// Dir is the data folder.
	Dir string
	// KeyText is the text of the key file when it does not lie in Dir.
	KeyText string
	// Database is the path of the SQLite file, "" for PostgreSQL.
	Database string
	// Lost says what to do when the key file is gone for good, as the end of a
	// sentence: "or make a new one with: …". It may be empty.
	Lost string
	Log  *slog.Logger
}

// MakeFolder makes a data folder that only its owner may enter, where it is
// missing.
func MakeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return &countersign.Error{
			Kind: countersign.KindUnavailable, Code: "data_folder", Cause: err,
			Message: fmt.Sprintf("The data folder %s can't be made (%v); make it yourself, or name another one with --data", dir, reason(err)),
		}
	}
	return nil
}

// reason is the last part of a file error: "permission denied".
func reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// Open finds the key file that belongs to a database whose tables are there. A
// new database gets a new key file; one that is missing beside a database with
// content is never replaced by itself. Errors are of kind Conflict, with the code
// key_missing, key_mismatch or key_unreadable, or of kind Unavailable.
func (v *Vault) Open(ctx context.Context, db sqldb.Queries) (*seal.Box, error) {
	check, err := db.Meta(ctx, CheckName)
	if err != nil {
		return nil, err
	}
	box, err := v.Load()
	if errors.Is(err, os.ErrNotExist) && check == "" {
		box, err = v.create()
	}
	if check != "" && (err != nil || !box.Matches(check)) {
		if staged := v.FinishReplace(check); staged != nil {
			return staged, nil
		}
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, conflict("key_missing", fmt.Sprintf("The key file %s is missing; this database belongs to the one named %s. "+
			"Put it back from a backup%s", v.Path(), seal.KeyName(check), v.lost()))
	case err != nil:
		return nil, v.Unusable(err)
	case check == "":
		return box, v.adopt(ctx, db, box)
	case !box.Matches(check):
		return nil, conflict("key_mismatch", fmt.Sprintf("The key file %s is the one named %s, but this database belongs to the one named %s; "+
			"put that one in its place", v.Path(), seal.KeyName(box.Check()), seal.KeyName(check)))
	}
	return box, nil
}

func (v *Vault) lost() string {
	if v.Lost == "" {
		return ""
	}
	return ", " + v.Lost
}

// Unusable tells a key file that can't be read or made from one whose content is
// none; only the second is a reason to replace it.
func (v *Vault) Unusable(err error) error {
	if errors.Is(err, seal.ErrNoKeyFile) {
		return &countersign.Error{Kind: countersign.KindConflict, Code: "key_unreadable", Message: err.Error(), Cause: err}
	}
	return &countersign.Error{
		Kind: countersign.KindUnavailable, Code: "data_folder", Cause: err,
		Message: fmt.Sprintf("The key file %s can't be read or made (%v)", v.Path(), reason(err)),
	}
}

// Path names the key file in messages.
func (v *Vault) Path() string {
	if v.KeyText != "" {
		return "given by the environment"
	}
	return filepath.Join(v.Dir, seal.FileName)
}

// Load reads the key file. The error of a missing one is [os.ErrNotExist].
func (v *Vault) Load() (*seal.Box, error) {
	if v.KeyText != "" {
		return seal.Parse(v.KeyText)
	}
	return seal.Load(v.Dir)
}

// create makes the key file; of two processes that do so at once, the second
// takes the first one's.
func (v *Vault) create() (*seal.Box, error) {
	box, err := seal.Create(v.Dir)
	if errors.Is(err, os.ErrExist) {
		return seal.Load(v.Dir)
	}
	return box, err
}

// adopt writes the check value of the key file into a new database.
func (v *Vault) adopt(ctx context.Context, db sqldb.Queries, box *seal.Box) error {
	return db.DB().Tx(ctx, func(tx sqldb.Queries) error {
		check, err := tx.Meta(ctx, CheckName)
		if err != nil {
			return err
		}
		if check != "" && !box.Matches(check) {
			return conflict("key_mismatch", "Another process set this database up with another key file at the same time; "+
				"copy its key file "+seal.FileName+" into the data folder "+v.Dir)
		}
		return tx.SetMeta(ctx, CheckName, box.Check())
	})
}

// FinishReplace puts a staged successor of the key file in its place, also one
// of a replacement that was interrupted after its commit. It returns the key file
// that belongs to the database, nil when that is not there.
func (v *Vault) FinishReplace(check string) *seal.Box {
	if v.KeyText != "" {
		return nil
	}
	staged, err := seal.LoadStaged(v.Dir)
	if err == nil && staged.Matches(check) {
		err = seal.Replace(v.Dir) // another process may do the same
	}
	placed, loadErr := v.Load()
	if loadErr == nil && placed.Matches(check) {
		return placed
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		v.Log.Error("the new key file could not be put in its place", "cause", err)
	}
	return nil
}

// Same tells, at the end of a transaction that wrote something made with a key
// file, whether the database still belongs to it, and keeps it so until the
// transaction ends.
func Same(ctx context.Context, tx sqldb.Queries, box *seal.Box) (bool, error) {
	check, err := tx.LockMeta(ctx, CheckName)
	return err == nil && box.Matches(check), err
}

func conflict(code, message string) error {
	return &countersign.Error{Kind: countersign.KindConflict, Code: code, Message: message}
}
