package addon

import (
	"context"
	"fmt"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

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
