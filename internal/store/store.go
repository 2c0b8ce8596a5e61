// Package store is the service of the store: workspaces, keys, items and purchases. Its
// fields have validation, licensing and transfer.
package store

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/blob"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/byitem"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/internal/store/media"
	"github.com/countersign/countersign/internal/store/requests"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/store/transfer"
	"github.com/countersign/countersign/internal/store/validation"
)

// Product is what a store is made of.
var Product = instance.Product{Service: keyfile.Store, Schemas: storedb.Schemas, Workspaces: true, Migrate: "countersign store migrate up"}

// Options describes the location of a store.
type Options struct {
	instance.Options
	// CacheBytes is the size of the response cache in bytes; 0 turns it off. Items have
	// 8 MiB in any case.
	CacheBytes int64
	// Media is the URL of the folder or the bucket of uploaded files, as [blob.Open] takes it;
	// empty for a folder in Dir.
	Media string
	// UploadQuota is how much the uploaded files of a workspace may take, in bytes; 0 for any amount.
	UploadQuota int64
	// RequestLog is how much is kept of the log of API requests by a server; the zero value
	// logs nothing.
	RequestLog requests.Keep
}

// Store is an open store. Its methods may be called from many goroutines.
type Store struct {
	// Instance is what the store is made of.
	Instance *instance.Instance
	// Validation answers programs that have an API key.
	Validation *validation.Validator
	// Licensing issues licenses to buyers.
	Licensing *licensing.Service
	// Transfer imports and exports.
	Transfer *transfer.Service
	// Media keeps uploaded files.
	Media *media.Service
	// Requests is the log of API requests.
	Requests *requests.Log

	uploadQuota int64
	db          *storedb.DB
	sales       byitem.Sales
	activity    byitem.Activity
	limits      sharedLimits
	clashes     *access.Clashes
	now         func() time.Time
	log         *slog.Logger
}

// mediaFolder is the folder of uploaded files in the data folder.
const mediaFolder = "media"

// media is where uploaded files are. The error is of kind Invalid (media_url).
func (o Options) media() (*blob.Bucket, error) {
	if o.Media == "" {
		return blob.Folder(filepath.Join(o.Dir, mediaFolder)), nil
	}
	bucket, err := blob.Open(o.Media)
	if err != nil {
		return nil, fault.WithCause(fault.Invalid("media_url", "Invalid URL for uploaded files: "+err.Error()), err)
	}
	return bucket, nil
}

// Open opens the store's database. Call [Store.Prepare] before anything else.
func Open(ctx context.Context, o Options) (*Store, error) {
	bucket, err := o.media()
	if err != nil {
		return nil, err
	}
	i, err := instance.Open(ctx, Product, o.Options)
	if err != nil {
		return nil, err
	}
	o.Options = i.Options
	i.Backups.Service.Media, i.Backups.Service.Files = bucket, media.Keys
	s := &Store{Instance: i, uploadQuota: o.UploadQuota, db: storedb.New(i.Database), now: o.Now, log: o.Log, clashes: access.NewClashes(o.Now)}
	s.Validation = validation.New(s.db, i.Gate, o.CacheBytes, o.Now, o.Log)
	s.Licensing = licensing.New(s.db, i.Gate, s.Validation, o.Now, o.Log)
	s.Media = media.New(s.db, i.Gate, s.Validation, bucket, o.Dir, o.UploadQuota, o.Now, o.Log)
	s.Transfer = transfer.New(s.db, i.Gate, i.Jobs, o.Dir, s.clashes, o.Now)
	s.sales, s.activity = byitem.NewSales(s.db), byitem.NewActivity(s.db)
	s.Requests = requests.New(requests.Options{Dir: o.Dir, URL: o.URL, Keep: o.RequestLog, Now: o.Now, Log: o.Log, Longer: o.Longer, See: s.seeRequests})
	for _, w := range append(s.Validation.Watchers(), s.Licensing.Watchers()...) {
		i.Database.Watch(w)
	}
	return s, nil
}

// Backups is what verifies and restores backups of a store, which need not exist. Close its Media.
func Backups(o Options) (*backup.Service, error) {
	bucket, err := o.media()
	if err != nil {
		return nil, err
	}
	s := Product.Backups(o.Options)
	s.Media, s.Files = bucket, media.Keys
	return s, nil
}

// Close writes what is still to be written of the keys' last uses and of the limits'
// counts, and closes the database.
func (s *Store) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	s.Validation.Close(ctx)
	s.leaveLimits(ctx)
	return errors.Join(s.Requests.Close(), s.Media.Bucket().Close(), s.Instance.Close(ctx))
}

// Run does the store's background work until ctx ends: it follows changes made
// by other processes, keeps the keys in memory, writes their last uses and scheduled backups, and
// prepares a database that was down at the start. It returns an error only when
// the store can't be served, for example because its key file is wrong.
func (s *Store) Run(ctx context.Context) error {
	if err := s.prepareLater(ctx); err != nil {
		return err
	}
	return s.Instance.Run(ctx, func(work *group.Group) {
		s.Validation.Start(work)
		work.Start("old imports and files", s.pruneEvery)
		work.Start("limits", s.exchangeLimitsEvery)
		work.Start("log of API requests", s.Requests.Run)
	})
}

func (s *Store) timestamp() countersign.Timestamp { return countersign.At(s.now()) }

// LimitsAlone reports whether the counts of limits could not be exchanged with other servers
// the last time.
func (s *Store) LimitsAlone() bool { return s.limits.failed.Load() }

// pruneEvery deletes imports that can't be undone any more, and files that nothing refers to, now and then every hour.
func (s *Store) pruneEvery(ctx context.Context) {
	if err := s.Media.Bucket().Check(ctx); err != nil && ctx.Err() == nil {
		s.log.Warn("uploads are answered 503 until files can be written", "cause", err)
	}
	for {
		if err := s.Transfer.Prune(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("old imports could not be pruned", "cause", err)
		}
		if err := s.Transfer.SweepUploads(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("old uploads could not be removed", "cause", err)
		}
		if err := s.Media.Sweep(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("unused uploaded files could not be removed", "cause", err)
		}
		if !group.Sleep(ctx, time.Hour, nil) {
			return
		}
	}
}
