// Package instance opens what the store and the addon are both made of: a data folder with its key file, a database,
// the gate, people with their audit log, jobs and backups. It does the background work that both need.
package instance

import (
	"context"
	"log/slog"
	"time"

	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

// Options describes the location of an instance.
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
	// Longer is that of [sqldb.Options].
	Longer time.Duration
	// Progress is that of [sqldb.Options].
	Progress func(done, total int64)
	// HashCost of passwords; the zero value is the real one.
	HashCost people.HashCost
	// Lock is the server's lock of Dir, nil for a program that takes none.
	Lock *sqldb.FolderLock
	Log  *slog.Logger     // nil for none
	Now  func() time.Time // nil for the system's clock
}

// Instance is an open store or addon, as far as both are alike. Its methods may be called from many goroutines.
type Instance struct {
	// Options has no field that is nil, but for Lock and Progress.
	Options  Options
	Database *sqldb.DB
	Location *keyfile.Location
	// Gate is closed until the product has opened it.
	Gate   *Gate
	People *people.People
	// Audit reads the audit log. Chain seals and verifies it once the gate is open.
	Audit *people.AuditLog
	Chain *people.AuditChain
	Jobs  *jobs.Queue
	// Backups creates backups, and keeps the record of those that were verified.
	Backups *backup.Keeper

	product  Product
	peopleDB *peopledb.DB
}

// Open opens the database of a product. It makes no tables, and reads no key file. A database that is down shows in the
// first call that needs it.
func Open(ctx context.Context, p Product, o Options) (*Instance, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	backups := p.Backups(o)
	database, err := backups.Location.OpenDatabase(ctx, backups.Database)
	if err != nil {
		return nil, err
	}
	i := &Instance{
		Options: o, Database: database, Location: backups.Location, Gate: NewGate(p.Service), Jobs: jobs.New(database, o.Now, o.Log),
		product: p, peopleDB: &peopledb.DB{Queries: database.Queries()},
	}
	i.Gate.Watch(database)
	i.People = people.New(people.Options{DB: i.peopleDB, Box: i.Gate.Box, Now: o.Now, Log: o.Log, HashCost: o.HashCost, Workspaces: p.Workspaces})
	i.Audit = i.People.AuditLog
	i.Chain = people.NewAuditChain(i.peopleDB, i.Gate.Box, o.Now, o.Log)
	i.Backups = &backup.Keeper{Service: backups, DB: database, May: mayOperate, Box: i.Gate.Box, SameKeyFile: i.Gate.SameKeyFile, Log: o.Log}
	i.Backups.Handle(i.Jobs)
	return i, nil
}

// Close writes what is still to be written of failed sign-ins, and closes the database.
func (i *Instance) Close(ctx context.Context) error {
	i.People.Close(ctx)
	return i.Database.Close()
}

// Run does the background work until ctx ends; more starts that of the product. It returns an error only when a task of
// more does, or when the database belongs to another key file by now ([keyfile.ErrReplaced]).
func (i *Instance) Run(ctx context.Context, more func(*group.Group)) error {
	i.Backups.Serve()
	work := group.New(ctx, i.Options.Log)
	work.Start("feed of changes", i.Database.Feed)
	work.Start("write-ahead log", i.Database.KeepLogShort)
	work.Start("number of commits", i.Database.KeepCommits)
	work.Start("files", i.Database.WatchFiles)
	work.Start("integrity", func(ctx context.Context) { i.Database.WatchIntegrity(ctx, i.Options.Now) })
	work.Start("jobs", i.Jobs.Run)
	work.Start("schedule of backups", i.Backups.Run)
	work.Start("failed sign-ins", i.People.Run)
	work.Start("audit seals", i.Chain.Run)
	work.Start("old changes", i.pruneEvery)
	work.Go("key file", i.Gate.Follow)
	more(work)
	return work.Wait()
}

// pruneEvery deletes rows of changes that nobody waits for any more, and jobs that have ended, now and then every hour.
func (i *Instance) pruneEvery(ctx context.Context) {
	for {
		if err := i.Database.PruneChanges(ctx); err != nil && ctx.Err() == nil {
			i.Options.Log.Warn("old changes could not be pruned", "cause", err)
		}
		if err := i.Jobs.Prune(ctx); err != nil && ctx.Err() == nil {
			i.Options.Log.Warn("old jobs could not be pruned", "cause", err)
		}
		if !group.Sleep(ctx, time.Hour, nil) {
			return
		}
	}
}

// Ready returns an error unless the gate is open, the database answers and is the one that was prepared, and nothing
// keeps it from being written.
func (i *Instance) Ready(ctx context.Context) error {
	if err := i.Gate.Ready(); err != nil {
		return err
	}
	return keyfile.Present(ctx, i.Database, i.Gate.Box())
}

// MeasureFiles reads the figures of the data folder for metrics. It may wait for the disk.
func (i *Instance) MeasureFiles(context.Context) (health.Files, error) {
	return health.MeasureFiles(i.Options.Dir, i.Database), nil
}

// MeasureRows reads the figures of the database for metrics.
func (i *Instance) MeasureRows(ctx context.Context) (health.Rows, error) {
	if err := i.Gate.Ready(); err != nil {
		return health.Rows{}, err
	}
	return health.MeasureRows(ctx, i.Database, i.Jobs, i.Chain)
}
