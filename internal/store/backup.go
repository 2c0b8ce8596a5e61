package store

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/storedb"
)

// Backups is what verifies and restores backups of a store, which need not exist. Close its Media.
func Backups(ctx context.Context, o Options) (*backup.Service, error) {
	bucket, err := o.media(ctx)
	if err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &backup.Service{Location: o.location(), Database: o.database(), Media: bucket, Now: o.Now}, nil
}

func (s *Store) backups() *backup.Service {
	return &backup.Service{Location: s.location, Database: s.options.database(), Media: s.Media.Bucket(), Now: s.now}
}

// CreateBackup writes a backup. Requests are answered meanwhile.
func (s *Store) CreateBackup(ctx context.Context, a people.Actor, o backup.CreateOptions) (backup.Created, error) {
	if err := access.May(a, access.Administer); err != nil {
		return backup.Created{}, err
	}
	made, err := s.backups().Create(ctx, s.database, o)
	if err != nil {
		return made, err
	}
	return made, s.recordBackup(ctx, a, people.Event{Action: actionCreateBackup, Subject: filepath.Base(made.File), Detail: fmt.Sprintf("%d bytes", made.Size)})
}

// RecordRestore writes into the audit log that the store was restored from a backup.
func (s *Store) RecordRestore(ctx context.Context, a people.Actor, done backup.Restored) error {
	if err := access.May(a, access.Administer); err != nil {
		return err
	}
	return s.recordBackup(ctx, a, people.Event{Action: actionRestoreBackup, Detail: "backup of " + done.Info.Header.CreatedAt.Format(time.RFC3339)})
}

func (s *Store) recordBackup(ctx context.Context, a people.Actor, e people.Event) error {
	return s.db.Tx(ctx, func(tx *storedb.DB) error { return people.Record(ctx, &tx.DB, s.now(), a, e) })
}
