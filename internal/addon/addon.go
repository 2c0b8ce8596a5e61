// Package addon holds the rules of the companion addon that a site owner
// installs: API credentials, the site's licenses, and the update that sets all of it up.
// The settings of the mobile app and in-app purchases have packages of their own, which
// an [Addon] has as fields.
package addon

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/membership"
	"github.com/countersign/countersign/internal/addon/numbers"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/addon/simulator"
	"github.com/countersign/countersign/internal/addon/usertoken"
	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/cached"
	"github.com/countersign/countersign/internal/dial"
	"github.com/countersign/countersign/internal/hook"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/usage"
)

// DatabaseName is the SQLite file's name in the data folder.
const DatabaseName = "addon.db"

// DefaultDir is the data folder when none is named.
const DefaultDir = "./countersign-addon-data"

// Options describes the location of an addon.
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
	// Lock is the server's lock of Dir, nil for a program that takes none.
	Lock *sqldb.FolderLock
	// Version of this build, for reports.
	Version string
	// HashCost of passwords; the zero value is the real one.
	HashCost people.HashCost
	// AllowPrivate are the private networks in which a store or the receiver of a webhook may
	// be. Without it they have public addresses alone.
	AllowPrivate []netip.Prefix
	// PlayURL replaces the addresses of Google Play, "" for Google.
	PlayURL string
	Log     *slog.Logger
	Now     func() time.Time
}

// Addon is an open addon. Its methods may be called from many goroutines.
type Addon struct {
	// Settings is the draft and what is published, IAP the in-app purchases, Members what users
	// have from them, Numbers what happened to purchases by day, Simulator the store that answers
	// in test mode, Events the feed of events and the webhooks.
	Settings  *settings.Service
	IAP       *iap.Service
	Members   *membership.Service
	Numbers   *numbers.Service
	Simulator *simulator.Service
	Events    *events.Service
	// Backups creates backups, and keeps the record of those that were verified.
	Backups *backup.Keeper

	guard    *access.Guard
	options  Options
	database *sqldb.DB
	db       *addondb.DB
	location *keyfile.Location
	people   *people.People
	stores   *dial.Guard // calls the stores of licenses
	sender   *hook.Sender
	queue    *jobs.Queue
	plays    plays
	pushes   pushes
	chain    *people.AuditChain
	key      keyfile.Current // none until the key file is known
	state    atomic.Pointer[State]
	updated  chan struct{} // told when the state may have changed
	nonces   nonces
	pairs    cached.Value[pairTable]
	// pairNumber is that of the last pair, and userTokens are the user tokens that pairs have verified.
	pairNumber atomic.Int64
	userTokens cached.Versioned[[sha256.Size]byte, usertoken.Token]
	uses       usage.Counter // of credentials
	requests   requests
	// requestsUnconfirmed counts those in commits whose outcome is unknown.
	requestsUnconfirmed atomic.Int64
	started             time.Time // the nonces of earlier calls are not in memory
	now                 func() time.Time
	log                 *slog.Logger
}

// Begun reports whether a folder holds an addon, or what is left of one: its database, its
// key file, or a set-up link or an update that has begun. It says yes when it can't tell.
func Begun(dir string) bool {
	for _, name := range []string{DatabaseName, keyfile.FileName, SetupFile, updateLock} {
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
	return &keyfile.Location{Service: keyfile.Addon, Dir: o.Dir, KeyText: o.KeyText, KeyVariable: o.KeyVariable}
}

func (o Options) database() sqldb.Options {
	return sqldb.Options{
		URL: o.URL, Path: filepath.Join(o.Dir, DatabaseName), NoCreate: o.NoCreate, Schemas: addondb.Schemas, Log: o.Log, Lock: o.Lock,
	}
}

// Open opens the addon's database. It makes no tables: that is for
// [Addon.Update]. A database that is down shows in the first call that needs it.
func Open(ctx context.Context, o Options) (*Addon, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	keys := o.location()
	database, err := keys.OpenDatabase(ctx, o.database())
	if err != nil {
		return nil, err
	}
	a := &Addon{
		options: o, database: database, db: addondb.New(database), started: o.Now(), now: o.Now, log: o.Log, updated: make(chan struct{}, 1),
		location: keys, stores: dial.New(o.AllowPrivate),
	}
	a.people = people.New(&a.db.DB, a.key.Box, o.Now, o.Log, o.HashCost)
	a.chain = people.NewAuditChain(&a.db.DB, a.key.Box, o.Now, o.Log)
	a.guard = &access.Guard{Installed: a.Installed, Ready: a.ready, Box: a.key.Box, Now: o.Now}
	var ofPurchases, ofSettings sqldb.Watcher
	a.Numbers = numbers.New(a.db, a.guard)
	a.IAP, ofPurchases = iap.New(a.db, a.guard, o.Log)
	a.Settings, ofSettings = settings.New(a.db, a.guard, a.IAP, o.Log)
	a.sender, a.queue = hook.New(o.AllowPrivate, o.Version, o.Now), jobs.New(database, o.Now, o.Log)
	a.Backups = a.newBackups()
	var ofEvents sqldb.Watcher
	a.Events, ofEvents = events.New(a.db, events.Options{
		Guard: a.guard, Queue: a.queue, Sender: a.sender, AllowPrivate: o.AllowPrivate, Lookup: net.DefaultResolver.LookupNetIP, Log: o.Log,
	})
	for _, w := range []sqldb.Watcher{ofPurchases, ofSettings, ofEvents} {
		database.Watch(w)
	}
	a.plays, a.pushes.url, a.pushes.now = plays{url: o.PlayURL, now: o.Now}, o.PlayURL, o.Now
	a.openMembers()
	a.openPull()
	cached.SetVersionedCapacity(&a.userTokens, userTokenBytes, func(usertoken.Token) int { return userTokenSize })
	database.Watch(a.pairs.Watch(a.readPairs, addondb.TopicCredentials))
	a.key.Watch(database)
	database.Watch(sqldb.Watcher{Changed: a.changed, Lost: func() {}, Live: a.askForState})
	return a, nil
}

// Close writes what is still to be written of the credentials' last uses, of the
// requests from apps and of failed sign-ins, and closes the database.
func (a *Addon) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	a.writeUses(ctx)
	a.writeRequests(ctx)
	a.people.Close(ctx)
	a.stores.Client().CloseIdleConnections()
	a.sender.Close()
	return a.database.Close()
}

// DatabaseStatus returns how the connections to the database are. It asks nobody.
func (a *Addon) DatabaseStatus() sqldb.Status { return a.database.Status() }

// People is the users, sessions and audit log of the addon. They can be used
// once the addon is installed ([Addon.Installed]).
func (a *Addon) People() *people.People { return a.people }

// AuditLog reads the audit log of the addon, as [Addon.People] does.
func (a *Addon) AuditLog() *people.AuditLog { return a.people.AuditLog }

// AuditChain seals and verifies the addon's audit log. It can be used once the addon is
// installed ([Addon.Installed]).
func (a *Addon) AuditChain() *people.AuditChain { return a.chain }
