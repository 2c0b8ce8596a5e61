package addon

import (
	"context"
	"fmt"
	"time"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// Backups is what verifies and restores backups of an addon, which need not exist.
func Backups(o Options) *backup.Service {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &backup.Service{Location: o.location(), Database: o.database(), Now: o.Now}
}

// newBackups returns what creates the backups of an open addon.
func (a *Addon) newBackups() *backup.Keeper {
	k := &backup.Keeper{
		Service: &backup.Service{Location: a.location, Database: a.options.database(), Now: a.now},
		DB:      a.database, May: func(actor people.Actor) error { return access.May(actor, access.Operate) },
		Box: a.guard.Box, SameKeyFile: func(ctx context.Context, tx sqldb.Queries) error { return a.guard.SameKeyFile(ctx, addondb.In(tx)) }, Log: a.log,
	}
	k.Handle(a.queue)
	return k
}

// Move copies all rows into an empty database, as [backup.Service.Move] says, and writes that into
// its audit log. The addon is prepared, and is not changed.
func (a *Addon) Move(ctx context.Context, actor people.Actor, o backup.MoveOptions) (backup.Moved, error) {
	if err := access.May(actor, access.Operate); err != nil {
		return backup.Moved{}, err
	}
	o.Record = func(ctx context.Context, to *sqldb.DB, m backup.Moved) error {
		event := people.Event{Action: access.ActionAddonMove, Before: string(m.From), After: string(m.To), Detail: fmt.Sprintf("%d rows", m.Rows())}
		return to.Tx(ctx, func(q sqldb.Queries) error { return a.guard.Audit(ctx, addondb.In(q), actor, event) })
	}
	return a.Backups.Service.Move(ctx, a.database, o)
}
