package addon

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/people"
)

// Backups is what verifies and restores backups of an addon, which need not exist.
func Backups(o Options) *backup.Service {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &backup.Service{Location: o.location(), Database: o.database(), Now: o.Now}
}

func (a *Addon) backups() *backup.Service {
	return &backup.Service{Location: a.location, Database: a.options.database(), Now: a.now}
}

// CreateBackup writes a backup. Requests are answered meanwhile.
func (a *Addon) CreateBackup(ctx context.Context, actor people.Actor, o backup.CreateOptions) (backup.Created, error) {
	if err := access.May(actor, access.Operate); err != nil {
		return backup.Created{}, err
	}
	made, err := a.backups().Create(ctx, a.database, o)
	if err != nil {
		return made, err
	}
	event := people.Event{Action: access.ActionBackupCreate, Subject: filepath.Base(made.File), Detail: fmt.Sprintf("%d bytes", made.Size)}
	return made, a.recordBackup(ctx, actor, event)
}

// RecordRestore writes into the audit log that the addon was restored from a backup.
func (a *Addon) RecordRestore(ctx context.Context, actor people.Actor, done backup.Restored) error {
	if err := access.May(actor, access.Operate); err != nil {
		return err
	}
	return a.recordBackup(ctx, actor, people.Event{Action: access.ActionBackupRestore, Detail: "backup of " + done.Info.Header.CreatedAt.Format(time.RFC3339)})
}

func (a *Addon) recordBackup(ctx context.Context, actor people.Actor, e people.Event) error {
	return a.db.Tx(ctx, func(tx *addondb.DB) error { return a.guard.Audit(ctx, tx, actor, e) })
}
