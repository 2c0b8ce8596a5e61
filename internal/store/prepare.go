package store

import (
	"context"
	"fmt"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/storedb"
)

var (
	errSchemaNewer = fault.Conflict("schema_newer", "This database was written by a newer version of countersign; install that version or a later one")
	errSchemaOlder = fault.Conflict("schema_older", "This database was written by an older version of countersign")
)

// Prepare makes the store usable: it creates the tables of an empty database,
// and the key file of a new one. An older database is a conflict that names
// "store migrate up", and so is a key file that is missing or does not belong
// to the database, and an empty database beside a key file.
func (s *Store) Prepare(ctx context.Context) error {
	state, err := s.checkedState(ctx)
	if err != nil {
		return err
	}
	switch state {
	case sqldb.StateNewer:
		return errSchemaNewer
	case sqldb.StateOlder:
		if err := s.checkUnfinished(ctx); err != nil {
			return err
		}
		fallthrough
	case sqldb.StateEmpty:
		if err := s.database.Migrate(ctx); err != nil {
			return err
		}
	}
	box, err := s.location.Open(ctx, s.db.Queries)
	if err != nil {
		return err
	}
	if err := s.keyImportedKeys(ctx, box); err != nil {
		return err
	}
	s.gate.Open(box)
	return nil
}

// checkedState is how far the tables are. It is an error when the key file does not belong to
// the database, before anything is written.
func (s *Store) checkedState(ctx context.Context) (sqldb.State, error) {
	state, err := s.location.State(ctx, s.database)
	if err != nil {
		return "", err
	}
	return state, s.location.CheckKey(ctx, s.database.Queries())
}

// checkUnfinished is an error (schema_older) unless a first run was interrupted before it had
// created all tables, which are empty then. A first run in another process writes the check
// value after its tables, so the state that was read before may be outdated.
func (s *Store) checkUnfinished(ctx context.Context) error {
	check, err := s.db.Meta(ctx, keyfile.CheckName)
	if err != nil || check == "" {
		return err
	}
	state, err := s.database.State(ctx)
	if err == nil && state == sqldb.StateOlder {
		err = errSchemaOlder
	}
	return err
}

// PrepareToRead makes the store usable for a look at what is there, and writes nothing: it is an error unless the
// database is of this version and its key file is there.
func (s *Store) PrepareToRead(ctx context.Context) error {
	state, err := s.location.State(ctx, s.database)
	if err == nil && state != sqldb.StateCurrent {
		err = fault.Unavailable(countersign.CodeUnavailable, "The database is not ready")
	}
	if err != nil {
		return err
	}
	box, err := s.location.Load()
	if err == nil {
		s.gate.Open(box)
	}
	return err
}

// PrepareToServe is Prepare for the server: an older database is backed up and
// migrated. A database that lacks commits which it acknowledged is a conflict
// ([sqldb.CodeBehind]).
func (s *Store) PrepareToServe(ctx context.Context) error {
	state, err := s.checkedState(ctx)
	if err == nil {
		err = s.database.Behind()
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
		s.gate.SetReason(nil)
	case fault.HasCode(err, backup.CodeRunning):
		s.gate.SetReason(access.ErrMigrating)
	case fault.IsUnavailable(err):
		failed := access.MigrationFailed(err)
		s.gate.SetReason(failed)
		return failed
	}
	return err
}

// BeginToServe is PrepareToServe, but leaves an older database to [Store.Run], which
// migrates it while requests are answered. The error is of kind Unavailable
// ([countersign.CodeMigrating]) then.
func (s *Store) BeginToServe(ctx context.Context) error {
	state, err := s.checkedState(ctx)
	if err == nil && state == sqldb.StateOlder && s.database.Behind() == nil {
		s.gate.SetReason(access.ErrMigrating)
		return access.ErrMigrating
	}
	return s.PrepareToServe(ctx)
}

// AcceptLoss is PrepareToServe for a database that may lack commits. What it lacks is
// written into the audit log.
func (s *Store) AcceptLoss(ctx context.Context, a people.Actor) error {
	missing := s.database.MissingCommits()
	s.database.AcceptLoss()
	if err := s.PrepareToServe(ctx); err != nil || missing == 0 {
		return err
	}
	return s.db.Tx(ctx, func(tx *storedb.DB) error {
		return people.Record(ctx, &tx.DB, s.now(), a, people.Event{Action: actionAcceptLoss, Detail: fmt.Sprintf("%d commits are missing", missing)})
	})
}

// prepareLater prepares a store whose database was down at the start, as soon
// as it is there, or is older. An older one waits for a backup that another process writes,
// and for a folder that takes its own backup. What it waits for is logged at once and each minute.
func (s *Store) prepareLater(ctx context.Context) error {
	var told time.Time
	for s.gate.Box() == nil {
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
		if now := s.now(); now.Sub(told) >= time.Minute || now.Before(told) {
			told = now
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
	state, err := s.checkedState(ctx)
	if err != nil {
		return "", err
	}
	switch state {
	case sqldb.StateCurrent:
		return "", nil
	case sqldb.StateNewer:
		return "", errSchemaNewer
	case sqldb.StateOlder:
		made, err := s.Backups.Service.Create(ctx, s.database, backup.CreateOptions{NoMedia: true})
		if err != nil {
			return "", err
		}
		file = made.File
		s.log.Info("the database was backed up before its migration", "file", file)
		s.gate.SetReason(access.ErrMigrating) // also after attempts that failed
	}
	return file, s.database.Migrate(ctx)
}

// Behind is an error of kind Conflict when the database lacks commits that it
// acknowledged. It can be read, and is not written before the loss is accepted.
func (s *Store) Behind() error { return s.database.Behind() }

// Migrations lists the steps of the store's tables and which the database has. In a
// folder that lost its database it is an error, as everywhere.
func (s *Store) Migrations(ctx context.Context) ([]sqldb.Migration, error) {
	if _, err := s.location.State(ctx, s.database); err != nil {
		return nil, err
	}
	return s.database.Migrations(ctx)
}
