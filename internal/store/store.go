// Package store is the service of the store: workspaces, keys, items and purchases. Its
// fields have validation, licensing and transfer.
package store

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/blob"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/byitem"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/internal/store/media"
	"github.com/countersign/countersign/internal/store/requests"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/store/transfer"
	"github.com/countersign/countersign/internal/store/validation"
)

// DatabaseName is the SQLite file's name in the data folder.
const DatabaseName = "store.db"

// Options describes the location of a store.
type Options struct {
	// Dir is the data folder. It holds the key file, backups and, without URL,
	// the SQLite file.
	Dir string
	// URL of a PostgreSQL database; empty for SQLite in Dir.
	URL string
	// KeyText is the text of the key file when it does not lie in Dir.
	KeyText string
	// KeyVariable names what KeyText comes from, for messages.
	KeyVariable string
	// NoCreate is for what is there already: neither Dir nor a database is made.
	NoCreate bool
	// CacheBytes is the size of the response cache in bytes; 0 turns it off. Items have
	// 8 MiB in any case.
	CacheBytes int64
	// Longer is that of [sqldb.Options].
	Longer time.Duration
	// Progress is that of [sqldb.Options].
	Progress func(done, total int64)
	// HashCost of passwords; the zero value is the real one.
	HashCost people.HashCost
	// Lock is the server's lock of Dir, nil for a program that takes none.
	Lock *sqldb.FolderLock
	Log  *slog.Logger
	Now  func() time.Time
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
	// Backups creates backups, and keeps the record of those that were verified.
	Backups *backup.Keeper

	options  Options
	database *sqldb.DB
	db       *storedb.DB
	sales    byitem.Sales
	activity byitem.Activity
	location *keyfile.Location
	gate     access.Gate // closed until Prepare has succeeded
	people   *people.People
	chain    *people.AuditChain
	limits   sharedLimits
	clashes  *access.Clashes
	jobs     *jobs.Queue
	now      func() time.Time
	log      *slog.Logger
}

// Begun reports whether a data folder holds the SQLite file of a store, or a key file.
func Begun(dir string) bool {
	for _, name := range []string{DatabaseName, keyfile.FileName} {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
			return true
		}
	}
	return false
}

// Check is an error of kind Conflict when the data folder or the database is another
// service's, or the folder lost its database. It writes nothing and makes no file.
func Check(ctx context.Context, o Options) error {
	return o.location().Check(ctx, o.database())
}

// CheckAll is Check, and also an error when the key file does not belong to the database.
func CheckAll(ctx context.Context, o Options) error {
	return o.location().CheckAll(ctx, o.database())
}

func (o Options) location() *keyfile.Location {
	return &keyfile.Location{Service: keyfile.Store, Dir: o.Dir, KeyText: o.KeyText, KeyVariable: o.KeyVariable}
}

func (o Options) database() sqldb.Options {
	return sqldb.Options{
		URL: o.URL, Path: filepath.Join(o.Dir, DatabaseName), NoCreate: o.NoCreate, Schemas: storedb.Schemas, Log: o.Log, Longer: o.Longer, Lock: o.Lock, Progress: o.Progress,
	}
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
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	bucket, err := o.media()
	if err != nil {
		return nil, err
	}
	keys := o.location()
	database, err := keys.OpenDatabase(ctx, o.database())
	if err != nil {
		return nil, err
	}
	s := &Store{options: o, database: database, db: storedb.New(database), location: keys, now: o.Now, log: o.Log, clashes: access.NewClashes(o.Now)}
	s.people = people.New(&s.db.DB, s.gate.Box, o.Now, o.Log, o.HashCost)
	s.people.AuditLog = people.NewAuditLog(&s.db.DB, true)
	s.chain = people.NewAuditChain(&s.db.DB, s.gate.Box, o.Now, o.Log)
	s.Validation = validation.New(s.db, &s.gate, o.CacheBytes, o.Now, o.Log)
	s.Licensing = licensing.New(s.db, &s.gate, s.Validation, o.Now, o.Log)
	s.jobs = jobs.New(database, o.Now, o.Log)
	s.Media = media.New(s.db, &s.gate, s.Validation, bucket, o.Dir, o.UploadQuota, o.Now, o.Log)
	s.Backups = s.newBackups()
	s.Transfer = transfer.New(s.db, &s.gate, s.jobs, o.Dir, s.clashes, o.Now)
	s.sales, s.activity = byitem.NewSales(s.db), byitem.NewActivity(s.db)
	s.Requests = requests.New(requests.Options{Dir: o.Dir, URL: o.URL, Keep: o.RequestLog, Now: o.Now, Log: o.Log, Longer: o.Longer, See: s.seeRequests})
	for _, w := range append(s.Validation.Watchers(), s.Licensing.Watchers()...) {
		database.Watch(w)
	}
	s.gate.Watch(database)
	return s, nil
}

// Close writes what is still to be written of the keys' last uses and of the limits'
// counts, and closes the database.
func (s *Store) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	s.Validation.Close(ctx)
	s.leaveLimits(ctx)
	s.people.Close(ctx)
	return errors.Join(s.Requests.Close(), s.Media.Bucket().Close(), s.database.Close())
}

// Run does the store's background work until ctx ends: it follows changes made
// by other processes, keeps the keys in memory, writes their last uses and scheduled backups, and
// prepares a database that was down at the start. It returns an error only when
// the store can't be served, for example because its key file is wrong.
func (s *Store) Run(ctx context.Context) error {
	if err := s.prepareLater(ctx); err != nil {
		return err
	}
	s.Backups.Serve()
	work := group.New(ctx, s.log)
	work.Start("feed of changes", s.database.Feed)
	work.Start("write-ahead log", s.database.KeepLogShort)
	work.Start("number of commits", s.database.KeepCommits)
	work.Start("files", s.database.WatchFiles)
	work.Start("integrity", func(ctx context.Context) { s.database.WatchIntegrity(ctx, s.now) })
	s.Validation.Start(work)
	work.Start("old changes", s.pruneEvery)
	work.Start("failed sign-ins", s.people.Run)
	work.Start("jobs", s.jobs.Run)
	work.Start("schedule of backups", s.Backups.Run)
	work.Start("audit seals", s.chain.Run)
	work.Start("limits", s.exchangeLimitsEvery)
	work.Start("log of API requests", s.Requests.Run)
	work.Go("key file", s.gate.Follow)
	return work.Wait()
}

// AuditLog reads the store's audit log. Entries name the workspace that they are about.
func (s *Store) AuditLog() *people.AuditLog { return s.people.AuditLog }

// People is the users of the store, and their sessions.
func (s *Store) People() *people.People { return s.people }

// AuditChain seals and verifies the store's audit log. It can be used once the store is
// prepared.
func (s *Store) AuditChain() *people.AuditChain { return s.chain }

// Ready returns an error unless the store is prepared, its database answers and is the
// one that was prepared, and nothing keeps it from being written.
func (s *Store) Ready(ctx context.Context) error {
	if err := s.gate.Ready(); err != nil {
		return err
	}
	return keyfile.Present(ctx, s.database, s.gate.Box())
}

// Dir is the data folder.
func (s *Store) Dir() string { return s.options.Dir }

// DatabaseStatus returns how the connections to the database are. It asks nobody.
func (s *Store) DatabaseStatus() sqldb.Status { return s.database.Status() }

func (s *Store) timestamp() countersign.Timestamp { return countersign.At(s.now()) }

// pruneEvery deletes rows of changes that nobody waits for any more, jobs that have ended, imports that can't be
// undone any more, and files that nothing refers to, now and then every hour.
func (s *Store) pruneEvery(ctx context.Context) {
	if err := s.Media.Bucket().Check(ctx); err != nil && ctx.Err() == nil {
		s.log.Warn("uploads are answered 503 until files can be written", "cause", err)
	}
	for {
		if err := s.database.PruneChanges(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("old changes could not be pruned", "cause", err)
		}
		if err := s.jobs.Prune(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("old jobs could not be pruned", "cause", err)
		}
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
