package addon

import (
	"context"
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
