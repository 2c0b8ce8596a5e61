package store

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/media"
	"github.com/countersign/countersign/internal/store/storedb"
)

// Backups is what verifies and restores backups of a store, which need not exist. Close its Media.
func Backups(ctx context.Context, o Options) (*backup.Service, error) {
	bucket, err := o.media()
	if err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &backup.Service{Location: o.location(), Database: o.database(), Media: bucket, Files: media.Keys, Now: o.Now}, nil
}

// newBackups returns what creates the backups of an open store.
func (s *Store) newBackups() *backup.Keeper {
	k := &backup.Keeper{
		Service: &backup.Service{Location: s.location, Database: s.options.database(), Media: s.Media.Bucket(), Files: media.Keys, Now: s.now},
		DB:      s.database, May: func(a people.Actor) error { return access.May(a, access.Operate) },
		Box: s.gate.Box, SameKeyFile: func(ctx context.Context, tx sqldb.Queries) error { return s.gate.SameKeyFile(ctx, storedb.In(tx)) }, Log: s.log,
	}
	k.Handle(s.jobs)
	return k
}
