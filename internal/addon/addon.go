// Package addon opens the companion addon that a site owner installs, and does its background
// work. The rules are in the packages below it, which an [Addon] has as fields.
package addon

import (
	"context"
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
	"github.com/countersign/countersign/internal/addon/credential"
	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/license"
	"github.com/countersign/countersign/internal/addon/membership"
	"github.com/countersign/countersign/internal/addon/numbers"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/addon/setup"
	"github.com/countersign/countersign/internal/addon/simulator"
	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/hook"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
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
	// Setup is the update and the set-up link, Credentials the API keys and API secrets, Licenses the
	// site's license files, Settings the draft and what is published, IAP the in-app purchases,
	// Members what users have from them, Numbers what happened to purchases by day, Simulator the
	// store that answers in test mode, Events the feed of events and the webhooks.
	Setup       *setup.Service
	Credentials *credential.Service
	Licenses    *license.Service
	Settings    *settings.Service
	IAP         *iap.Service
	Members     *membership.Service
	Numbers     *numbers.Service
	Simulator   *simulator.Service
	Events      *events.Service
	// Backups creates backups, and keeps the record of those that were verified.
	Backups *backup.Keeper

	guard    *access.Guard
	options  Options
	database *sqldb.DB
	db       *addondb.DB
	location *keyfile.Location
	people   *people.People
	sender   *hook.Sender
	queue    *jobs.Queue
	chain    *people.AuditChain
	requests requests
	// requestsUnconfirmed counts those in commits whose outcome is unknown.
	requestsUnconfirmed atomic.Int64
	now                 func() time.Time
	log                 *slog.Logger
}

// Begun reports whether a folder holds an addon, or what is left of one: its database, its
// key file, or a set-up link or an update that has begun. It says yes when it can't tell.
func Begun(dir string) bool {
	for _, name := range []string{DatabaseName, keyfile.FileName, setup.LinkFile, setup.LockFile} {
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
// [setup.Service.Update]. A database that is down shows in the first call that needs it.
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
		options: o, database: database, db: addondb.New(database), now: o.Now, log: o.Log, location: keys, guard: &access.Guard{Now: o.Now},
	}
	a.people = people.New(people.Options{DB: &a.db.DB, Box: a.guard.Box, Now: o.Now, Log: o.Log, HashCost: o.HashCost})
	a.chain = people.NewAuditChain(&a.db.DB, a.guard.Box, o.Now, o.Log)
	a.sender, a.queue = hook.New(o.AllowPrivate, o.Version, o.Now), jobs.New(database, o.Now, o.Log)
	a.Backups = a.newBackups()
	var watchers [5]sqldb.Watcher
	a.Numbers = numbers.New(a.db, a.guard)
	a.Credentials, watchers[0] = credential.New(a.db, a.guard, o.Log)
	a.Licenses = license.New(a.db, a.guard, a.people, o.AllowPrivate, o.Log)
	a.IAP, watchers[1] = iap.New(a.db, a.guard, o.Log)
	a.Settings, watchers[2] = settings.New(a.db, a.guard, a.IAP, o.Log)
	a.Events, watchers[3] = events.New(a.db, events.Options{
		Guard: a.guard, Queue: a.queue, Sender: a.sender, AllowPrivate: o.AllowPrivate, Lookup: net.DefaultResolver.LookupNetIP, Log: o.Log,
	})
	a.Setup, watchers[4] = setup.New(setup.Options{
		Version: o.Version, Location: keys, Database: database, DB: a.db, Guard: a.guard, People: a.people, Backups: a.Backups.Service,
		Settings: a.Settings, IAP: a.IAP, Credentials: a.Credentials, Licenses: a.Licenses, Log: o.Log,
	})
	for _, w := range watchers {
		database.Watch(w)
	}
	a.guard.Watch(database)
	a.openMembers()
	return a, nil
}

// openMembers opens the memberships with the two stores that they ask.
func (a *Addon) openMembers() {
	a.Members = membership.New(membership.Options{DB: a.db, Guard: a.guard, IAP: a.IAP, Events: a.Events, PlayURL: a.options.PlayURL, Log: a.log})
	a.Simulator = simulator.New(simulator.Options{DB: a.db, Guard: a.guard, Selling: a.IAP.Selling, Members: a.Members, Events: a.Events, Log: a.log})
	a.Members.Handle(a.queue)
	a.Simulator.Handle(a.queue)
	a.database.Watch(a.Members.Watcher())
	a.IAP.WatchRanks(a.Members.RulesChanged)
	a.Settings.WatchPublished(func(ctx context.Context, tx *addondb.DB, before, after iap.Values) error {
		return errors.Join(a.Members.Published(ctx, tx, before, after), a.Simulator.Published(ctx, tx, before, after))
	})
}

// Close writes what is still to be written of the credentials' last uses, of the
// requests from apps and of failed sign-ins, and closes the database.
func (a *Addon) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	a.Credentials.WriteUses(ctx)
	a.writeRequests(ctx)
	a.people.Close(ctx)
	a.Licenses.Close()
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
