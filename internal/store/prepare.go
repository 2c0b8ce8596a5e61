package store

import (
	"context"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/sqldb"
)

// errMigrating means that the database is being migrated; it is of kind Unavailable.
var errMigrating = fault.WithRetry(fault.Unavailable(countersign.CodeMigrating, "The store's database is being migrated to this version"), 10*time.Second)

// migrationFailed means that the database could not be migrated for now; it is of kind Unavailable.
func migrationFailed(cause error) *countersign.Error {
	e := fault.Unavailable(countersign.CodeMigrationFailed, "The store's database can't be migrated to this version: "+fault.Message(cause))
	return fault.WithCause(fault.WithRetry(e, 10*time.Second), cause)
}

// Prepare makes the store usable: it creates the tables of an empty database,
// and the key file of a new one. An older database is a conflict that names
// "store migrate up", and so is a key file that is missing or does not belong
// to the database, and an empty database beside a key file.
func (s *Store) Prepare(ctx context.Context) error {
	state, err := s.Instance.CheckedState(ctx)
	if err != nil {
		return err
	}
	switch state {
	case sqldb.StateNewer:
		return instance.ErrSchemaNewer
	case sqldb.StateOlder:
		if err := s.checkUnfinished(ctx); err != nil {
			return err
		}
		fallthrough
	case sqldb.StateEmpty:
		if err := s.Instance.Database.Migrate(ctx); err != nil {
			return err
		}
	}
	box, err := s.Instance.Location.Open(ctx, s.db.Queries)
	if err != nil {
		return err
	}
	if err := s.keyImportedKeys(ctx, box); err != nil {
		return err
	}
	s.open(box)
	return nil
}

// open opens the gate with the key file of the database.
func (s *Store) open(box *keyfile.Box) {
	s.Instance.Gate.Open(box)
	s.Instance.Gate.SetReason(nil)
}

// checkUnfinished is an error (schema_older) unless a first run was interrupted before it had
// created all tables, which are empty then. A first run in another process writes the check
// value after its tables, so the state that was read before may be outdated.
func (s *Store) checkUnfinished(ctx context.Context) error {
	check, err := s.db.Meta(ctx, keyfile.CheckName)
	if err != nil || check == "" {
		return err
	}
	state, err := s.Instance.Database.State(ctx)
	if err == nil && state == sqldb.StateOlder {
		err = instance.ErrSchemaOlder
	}
	return err
}

// PrepareToRead makes the store usable for a look at what is there, and writes nothing: it is an error unless the
// database is of this version and its key file is there.
func (s *Store) PrepareToRead(ctx context.Context) error {
	state, err := s.Instance.Location.State(ctx, s.Instance.Database)
	if err == nil && state != sqldb.StateCurrent {
		err = fault.Unavailable(countersign.CodeUnavailable, "The database is not ready")
	}
	if err != nil {
		return err
	}
	box, err := s.Instance.Location.Load()
	if err == nil {
		s.open(box)
	}
	return err
}

// PrepareToServe is Prepare for the server: an older database is backed up and
// migrated. A database that lacks commits which it acknowledged is a conflict
// ([sqldb.CodeBehind]).
func (s *Store) PrepareToServe(ctx context.Context) error {
	state, err := s.Instance.CheckedState(ctx)
	if err == nil {
		err = s.Instance.Database.Behind()
	}
	if err != nil {
		return err
	}
	if state == sqldb.StateOlder {
		if err := s.migrateToServe(ctx); err != nil {
			return err
		}
	}
	return s.Prepare(ctx)
}

// migrateToServe is Migrate, and tells requests why they have to wait.
func (s *Store) migrateToServe(ctx context.Context) error {
	_, err := s.Migrate(ctx)
	switch {
	case err == nil:
		s.Instance.Gate.SetReason(s.Instance.Gate.NotReady())
	case fault.HasCode(err, backup.CodeRunning):
		s.Instance.Gate.SetReason(errMigrating)
	case fault.IsUnavailable(err):
		failed := migrationFailed(err)
		s.Instance.Gate.SetReason(failed)
		return failed
	}
	return err
}

// BeginToServe is PrepareToServe, but leaves an older database to [Store.Run], which
// migrates it while requests are answered. The error is of kind Unavailable
// ([countersign.CodeMigrating]) then.
func (s *Store) BeginToServe(ctx context.Context) error {
	state, err := s.Instance.CheckedState(ctx)
	if err == nil && state == sqldb.StateOlder && s.Instance.Database.Behind() == nil {
		s.Instance.Gate.SetReason(errMigrating)
		return errMigrating
	}
	return s.PrepareToServe(ctx)
}

// prepareLater prepares a store whose database was down at the start, as soon
// as it is there, or is older. An older one waits for a backup that another process writes,
// and for a folder that takes its own backup. What it waits for is logged at once and each minute.
func (s *Store) prepareLater(ctx context.Context) error {
	var loggedAt time.Time
	for s.Instance.Gate.Box() == nil {
		err := s.PrepareToServe(ctx)
		waits := fault.HasCode(err, backup.CodeRunning)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			s.log.Info("the database answers; the store is ready")
			return nil
		case !waits && !fault.IsUnavailable(err):
			return err
		}
		if now := s.now(); now.Sub(loggedAt) >= time.Minute || now.Before(loggedAt) {
			loggedAt = now
			s.logWaiting(err, waits)
		}
		if !group.Sleep(ctx, time.Second, nil) {
			return nil
		}
	}
	return nil
}

func (s *Store) logWaiting(cause error, forBackup bool) {
	switch {
	case forBackup:
		s.log.Info("the migration waits for a backup that another process writes", "cause", cause)
	case fault.HasCode(cause, countersign.CodeMigrationFailed):
		s.log.Error("the database can't be migrated; every request is answered 503 until it can", "cause", fault.Of(cause).Cause)
	default:
		s.log.Warn("the database can't be used; every request is answered 503 until it can", "cause", cause)
	}
}

// Migrate backs the database up and brings its tables to this version. It
// returns the backup's path, "" when there was nothing to back up.
func (s *Store) Migrate(ctx context.Context) (file string, err error) {
	state, err := s.Instance.CheckedState(ctx)
	if err != nil {
		return "", err
	}
	switch state {
	case sqldb.StateCurrent:
		return "", nil
	case sqldb.StateNewer:
		return "", instance.ErrSchemaNewer
	case sqldb.StateOlder:
		made, err := s.Instance.Backups.Service.Create(ctx, s.Instance.Database, backup.CreateOptions{NoMedia: true})
		if err != nil {
			return "", err
		}
		file = made.File
		s.log.Info("the database was backed up before its migration", "file", file)
		s.Instance.Gate.SetReason(errMigrating) // also after attempts that failed
	}
	return file, s.Instance.Database.Migrate(ctx)
}

// Migrations lists the steps of the store's tables and which the database has. In a
// folder that lost its database it is an error, as everywhere.
func (s *Store) Migrations(ctx context.Context) ([]sqldb.Migration, error) {
	if _, err := s.Instance.Location.State(ctx, s.Instance.Database); err != nil {
		return nil, err
	}
	return s.Instance.Database.Migrations(ctx)
}
