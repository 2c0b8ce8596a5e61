// Package store holds the rules of the store: workspaces, keys, items and
// purchases, and the question it exists for, "is this purchase code good?".
package store

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/cached"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/usage"
)

// DatabaseName is the SQLite file's name in the data folder.
const DatabaseName = "store.db"

// Options says where a store lives.
type Options struct {
	// Dir is the data folder. It holds the key file, backups and, without URL,
	// the SQLite file.
	Dir string
	// URL of a PostgreSQL database; empty for SQLite in Dir.
	URL string
	// KeyText is the text of the key file when it does not lie in Dir.
	KeyText string
	// Look is for looking at what is there: neither Dir nor a database is made.
	Look bool
	// CacheBytes bounds the memory in which answers are kept; 0 keeps none. Items
	// have 8 MiB in any case.
	CacheBytes int64
	// Longer is that of [sqldb.Options].
	Longer time.Duration
	// Progress is that of [sqldb.Options].
	Progress func(done, total int64)
	// Lock is the server's lock of Dir, nil for a program that takes none.
	Lock *sqldb.FolderLock
	Log  *slog.Logger
	Now  func() time.Time
}

// Store is an open store. Its methods may be called from many goroutines.
type Store struct {
	options   Options
	database  *sqldb.DB
	db        *storedb.DB
	location  *keyfile.Location
	box       atomic.Pointer[keyfile.Box] // nil until Prepare has succeeded
	outdated  atomic.Bool                 // the database belongs to another key file by now
	migrating atomic.Bool
	keyFile   chan struct{} // told when it may
	keyCache  cached.Value[keyTable]
	responses *responseCache
	uses      usage.Counter // of keys
	licenses  licenses
	damages   atomic.Int64
	chain     *people.AuditChain
	limits    sharedLimits
	now       func() time.Time
	log       *slog.Logger
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

// Open opens the store's database. Call [Store.Prepare] before anything else.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	keys := &keyfile.Location{Dir: o.Dir, KeyText: o.KeyText, Log: o.Log}
	path := filepath.Join(o.Dir, DatabaseName)
	if o.URL == "" {
		keys.Database = path
	}
	if !o.Look {
		if err := errors.Join(keyfile.MakeFolder(o.Dir), keys.FindDatabase()); err != nil {
			return nil, err
		}
	}
	database, err := sqldb.Open(ctx, sqldb.Options{
		URL: o.URL, Path: path, Look: o.Look, Schemas: storedb.Schemas, Log: o.Log, Longer: o.Longer, Lock: o.Lock, Progress: o.Progress,
	})
	if err != nil {
		return nil, err
	}
	s := &Store{options: o, database: database, db: storedb.New(database), location: keys, responses: newResponseCache(o.CacheBytes), now: o.Now, log: o.Log, keyFile: make(chan struct{}, 1)}
	s.chain = people.NewAuditChain(&s.db.DB, s.box.Load, o.Now, o.Log)
	database.Watch(s.keyCache.Watch(s.readKeys, storedb.TopicKeys))
	database.Watch(sqldb.Watcher{Changed: s.keyFileChanged, Lost: func() {}, Live: s.askForKeyFile})
	database.Watch(s.responses.watcher())
	database.Watch(s.licenses.keys.Watch(s.readLicenseKeys, storedb.TopicLicenseKeys, storedb.TopicKeyFile))
	database.Watch(s.licenses.revoked.Watch(s.readRevoked, storedb.TopicLicenses, storedb.TopicLicenseKeys, storedb.TopicKeyFile))
	return s, nil
}

// Close writes what is still to be written of the keys' last uses and of the limits'
// counts, and closes the database.
func (s *Store) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	s.writeUses(ctx)
	s.leaveLimits(ctx)
	return s.database.Close()
}

// Run does the store's background work until ctx ends: it follows changes made
// by other processes, keeps the keys in memory, writes their last uses, and
// prepares a database that was down at the start. It returns an error only when
// the store can't be served, for example because its key file is wrong.
func (s *Store) Run(ctx context.Context) error {
	if err := s.prepareLater(ctx); err != nil {
		return err
	}
	work := group.New(ctx, s.log)
	work.Start("feed of changes", s.database.Feed)
	work.Start("write-ahead log", s.database.KeepLogShort)
	work.Start("number of commits", s.database.KeepCommits)
	work.Start("files", s.database.WatchFiles)
	work.Start("integrity", func(ctx context.Context) { s.database.WatchIntegrity(ctx, s.now) })
	work.Start("key cache", s.keyCache.Fill)
	work.Start("last uses", s.writeUsesEvery)
	work.Start("old changes", s.pruneEvery)
	work.Start("audit seals", s.chain.Run)
	work.Start("limits", s.exchangeLimitsEvery)
	work.Go("key file", s.watchKeyFile)
	return work.Wait()
}

// AuditChain seals and verifies the store's audit log. It can be used once the store is
// prepared.
func (s *Store) AuditChain() *people.AuditChain { return s.chain }

// Ready returns an error unless the store is prepared, its database answers and is the
// one that was prepared, and nothing keeps it from being written.
func (s *Store) Ready(ctx context.Context) error {
	if !s.prepared() {
		return s.notPrepared()
	}
	return keyfile.Present(ctx, s.database, s.box.Load())
}

// DatabaseStatus says how the connections to the database are. It asks nobody.
func (s *Store) DatabaseStatus() sqldb.Status { return s.database.Status() }

// prepared tells whether the store has the key file that belongs to its database.
func (s *Store) prepared() bool { return s.box.Load() != nil && !s.outdated.Load() }

var errNotPrepared = fault.WithRetry(fault.Unavailable("unavailable", "The store's database is not ready yet"), 2*time.Second)

// notPrepared says why the store is not prepared.
func (s *Store) notPrepared() error {
	if s.migrating.Load() {
		return errMigrating
	}
	return errNotPrepared
}

var errMigrating = fault.WithRetry(fault.Unavailable(countersign.CodeMigrating, "The store's database is being migrated to this version"), 10*time.Second)

func (s *Store) timestamp() countersign.Timestamp { return countersign.At(s.now()) }

// audit writes down, in the transaction of the act, what an actor did.
func (s *Store) audit(ctx context.Context, tx *storedb.DB, a people.Actor, action, workspace, subject, detail string) error {
	return people.Record(ctx, &tx.DB, s.now(), a, people.Event{Action: people.Action(action), Workspace: workspace, Subject: subject, Detail: detail})
}

// pruneEvery deletes rows of changes that nobody waits for any more, now and
// then every hour.
func (s *Store) pruneEvery(ctx context.Context) {
	for {
		if err := s.database.PruneChanges(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("old changes could not be pruned", "cause", err)
		}
		if !group.Sleep(ctx, time.Hour, nil) {
			return
		}
	}
}
