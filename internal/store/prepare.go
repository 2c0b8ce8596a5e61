package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/seal"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
)

// keyCheck is the name under which the database keeps its key file's check value.
const keyCheck = "key_check"

func makeFolder(dir string) error {
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

// Prepare makes the store usable: it creates the tables of an empty database,
// and the key file of a new one. An older database is a conflict that names
// "store migrate up", and so is a key file that is missing or does not belong
// to the database.
func (s *Store) Prepare(ctx context.Context) error {
	state, err := s.database.State(ctx)
	if err != nil {
		return err
	}
	switch state {
	case sqldb.StateNewer:
		return conflict("schema_newer", "This database was written by a newer version of countersign; install that version or a later one")
	case sqldb.StateOlder:
		check, err := s.db.Meta(ctx, keyCheck)
		if err != nil {
			return err
		}
		if check != "" {
			return conflict("schema_older", "This database was written by an older version of countersign; run: countersign store migrate up")
		}
		fallthrough // a first run was ended before it had made all tables; nothing is in them
	case sqldb.StateEmpty:
		if err := s.database.Migrate(ctx); err != nil {
			return err
		}
	}
	box, err := s.key(ctx)
	if err != nil {
		return err
	}
	s.box.Store(box)
	return nil
}

// PrepareToServe is Prepare for the server: an older database is backed up and
// migrated.
func (s *Store) PrepareToServe(ctx context.Context) error {
	state, err := s.database.State(ctx)
	if err != nil {
		return err
	}
	if state == sqldb.StateOlder {
		if _, err := s.Migrate(ctx); err != nil {
			return err
		}
	}
	return s.Prepare(ctx)
}

// prepareLater prepares a store whose database was down at the start, as soon
// as it is there.
func (s *Store) prepareLater(ctx context.Context) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for s.box.Load() == nil {
		err := s.PrepareToServe(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil && !isUnavailable(err) {
			return err
		}
		if err == nil {
			s.log.Info("the database is there; the store is ready")
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
	return nil
}

// Migrate backs the database up and brings its tables to this version. It
// returns the backup's path, "" when there was nothing to back up.
func (s *Store) Migrate(ctx context.Context) (backup string, err error) {
	state, err := s.database.State(ctx)
	if err != nil {
		return "", err
	}
	switch state {
	case sqldb.StateCurrent:
		return "", nil
	case sqldb.StateNewer:
		return "", conflict("schema_newer", "This database was written by a newer version of countersign; install that version or a later one")
	case sqldb.StateOlder:
		backup, err = s.database.Backup(ctx, filepath.Join(s.options.Dir, "backups"), s.now())
		if err != nil {
			return "", err
		}
		s.log.Info("the database was backed up before its migration", "file", backup)
	}
	return backup, s.database.Migrate(ctx)
}

// Migrations lists the steps of the store's tables and which the database has.
func (s *Store) Migrations(ctx context.Context) ([]sqldb.Migration, error) {
	return s.database.Migrations(ctx)
}

// key finds the key file that belongs to the database.
func (s *Store) key(ctx context.Context) (*seal.Box, error) {
	check, err := s.db.Meta(ctx, keyCheck)
	if err != nil {
		return nil, err
	}
	box, err := s.loadKey()
	if errors.Is(err, os.ErrNotExist) && check == "" {
		box, err = s.createKey()
	}
	if check != "" && (err != nil || !box.Matches(check)) {
		if staged := s.finishReplace(check); staged != nil {
			return staged, nil
		}
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, conflict("key_missing", fmt.Sprintf("The key file %s is missing; this database belongs to the one named %s. "+
			"Put it back from a backup, or make a new one with: countersign store rekey", s.keyPath(), seal.KeyName(check)))
	case err != nil:
		return nil, s.keyError(err)
	case check == "":
		return box, s.adopt(ctx, box)
	case !box.Matches(check):
		return nil, conflict("key_mismatch", fmt.Sprintf("The key file %s is the one named %s, but this database belongs to the one named %s; "+
			"put that one in its place", s.keyPath(), seal.KeyName(box.Check()), seal.KeyName(check)))
	}
	return box, nil
}

// keyError tells a key file that can't be read or made from one whose content is
// none; only the second is a reason to replace it.
func (s *Store) keyError(err error) error {
	if errors.Is(err, seal.ErrNoKeyFile) {
		return &countersign.Error{Kind: countersign.KindConflict, Code: "key_unreadable", Message: err.Error(), Cause: err}
	}
	return &countersign.Error{
		Kind: countersign.KindUnavailable, Code: "data_folder", Cause: err,
		Message: fmt.Sprintf("The key file %s can't be read or made (%v)", s.keyPath(), reason(err)),
	}
}

func (s *Store) keyPath() string {
	if s.options.KeyText != "" {
		return "given by the environment"
	}
	return filepath.Join(s.options.Dir, seal.FileName)
}

func (s *Store) loadKey() (*seal.Box, error) {
	if s.options.KeyText != "" {
		return seal.Parse(s.options.KeyText)
	}
	return seal.Load(s.options.Dir)
}

// createKey makes the key file; of two processes that do so at once, the second
// takes the first one's.
func (s *Store) createKey() (*seal.Box, error) {
	box, err := seal.Create(s.options.Dir)
	if errors.Is(err, os.ErrExist) {
		return seal.Load(s.options.Dir)
	}
	return box, err
}

// adopt writes the check value of the key file into a new database.
func (s *Store) adopt(ctx context.Context, box *seal.Box) error {
	return s.db.Tx(ctx, func(tx *storedb.DB) error {
		check, err := tx.Meta(ctx, keyCheck)
		if err != nil {
			return err
		}
		if check != "" && !box.Matches(check) {
			return conflict("key_mismatch", "Another process set this database up with another key file at the same time; "+
				"copy its key file "+seal.FileName+" into the data folder "+s.options.Dir)
		}
		return tx.SetMeta(ctx, keyCheck, box.Check())
	})
}

// finishReplace puts the key file of a rekey in its place, also of one that was
// interrupted after its commit. It returns the key file that belongs to the
// database, nil when that is not there.
func (s *Store) finishReplace(check string) *seal.Box {
	if s.options.KeyText != "" {
		return nil
	}
	staged, err := seal.LoadStaged(s.options.Dir)
	if err == nil && staged.Matches(check) {
		err = seal.Replace(s.options.Dir) // another process may do the same
	}
	placed, loadErr := s.loadKey()
	if loadErr == nil && placed.Matches(check) {
		return placed
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.log.Error("the new key file could not be put in its place", "cause", err)
	}
	return nil
}

// sameKeyFile makes sure, at the end of a transaction that wrote something made
// with the key file, that the database still belongs to it.
func (s *Store) sameKeyFile(ctx context.Context, tx *storedb.DB) error {
	check, err := tx.LockMeta(ctx, keyCheck)
	if err == nil && !s.box.Load().Matches(check) {
		return errKeyReplaced
	}
	return err
}

var errKeyReplaced = conflict("key_replaced", "The key file of this database was replaced (store rekey) after this program had read it; "+
	"start it again, with the new key file in its data folder")

// keyFileChanged is told of changes by all processes.
func (s *Store) keyFileChanged(topic, _ string) {
	if topic == storedb.TopicKeyFile {
		s.outdated.Store(true)
		s.askForKeyFile()
	}
}

// askForKeyFile wakes watchKeyFile, also after changes may have been missed.
func (s *Store) askForKeyFile() {
	select {
	case s.keyFile <- struct{}{}:
	default:
	}
}

// watchKeyFile returns errKeyReplaced when the database belongs to another key
// file, and nil when ctx ends.
func (s *Store) watchKeyFile(ctx context.Context) error {
	retry := time.NewTicker(time.Second)
	defer retry.Stop()
	for doubt := false; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-s.keyFile:
			doubt = true
		case <-retry.C:
		}
		if !doubt {
			continue
		}
		check, err := s.db.Meta(ctx, keyCheck)
		if err == nil && !s.box.Load().Matches(check) {
			s.outdated.Store(true)
			return errKeyReplaced
		}
		doubt = err != nil
	}
}

func conflict(code, message string) error {
	return &countersign.Error{Kind: countersign.KindConflict, Code: code, Message: message}
}

func isUnavailable(err error) bool {
	var e *countersign.Error
	return errors.As(err, &e) && e.Kind == countersign.KindUnavailable
}
