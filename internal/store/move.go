package store

import (
	"context"
	"fmt"

	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/storedb"
)

// Move copies all rows into an empty database, as [backup.Service.Move] says, and writes that into
// its audit log. The store need not be prepared, and is not changed. The log of API requests and the
// files of the data folder stay where they are.
func (s *Store) Move(ctx context.Context, a people.Actor, o backup.MoveOptions) (backup.Moved, error) {
	if err := access.May(a, access.Operate); err != nil {
		return backup.Moved{}, err
	}
	if err := s.checkCurrent(ctx); err != nil {
		return backup.Moved{}, err
	}
	o.Record = func(ctx context.Context, to *sqldb.DB, m backup.Moved) error {
		event := people.Event{Action: actionMove, Before: string(m.From), After: string(m.To), Detail: fmt.Sprintf("%d rows", m.Rows())}
		return to.Tx(ctx, func(q sqldb.Queries) error { return people.Record(ctx, &storedb.In(q).DB, s.now(), a, event) })
	}
	return s.Backups.Service.Move(ctx, s.database, o)
}

// checkCurrent is an error unless the database has a store of this version, and its key file is there.
func (s *Store) checkCurrent(ctx context.Context) error {
	state, err := s.checkedState(ctx)
	switch {
	case err != nil:
		return err
	case state == sqldb.StateEmpty:
		return fault.NotFound("no_store", "The database has no store")
	case state == sqldb.StateOlder:
		return errSchemaOlder
	case state == sqldb.StateNewer:
		return errSchemaNewer
	}
	return nil
}
