// Package addon opens the companion addon that a site owner installs, and does its background
// work. The rules are in the packages below it, which an [Addon] has as fields.
package addon

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
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
	"github.com/countersign/countersign/internal/hook"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/sqldb"
)

// Product is what an addon is made of.
var Product = instance.Product{
	Service: keyfile.Addon, Schemas: addondb.Schemas, Files: []string{setup.LinkFile, setup.LockFile}, Migrate: "countersign addon update",
}

// DefaultDir is the data folder when none is named.
const DefaultDir = "./countersign-addon-data"

// Options describes the location of an addon.
type Options struct {
	instance.Options
	// Version of this build, for reports.
	Version string
	// AllowPrivate are the private networks in which a store or the receiver of a webhook may
	// be. Without it they have public addresses alone.
	AllowPrivate []netip.Prefix
	// PlayURL replaces the addresses of Google Play, "" for Google.
	PlayURL string
}

// Addon is an open addon. Its methods may be called from many goroutines.
type Addon struct {
	// Instance is what the addon is made of.
	Instance *instance.Instance
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

	access   *access.Control
	db       *addondb.DB
	sender   *hook.Sender
	requests requests
	// requestsUnconfirmed counts those in commits whose outcome is unknown.
	requestsUnconfirmed atomic.Int64
	now                 func() time.Time
	log                 *slog.Logger
}

// Open opens the addon's database. It makes no tables: that is for
// [setup.Service.Update]. A database that is down shows in the first call that needs it.
func Open(ctx context.Context, o Options) (*Addon, error) {
	i, err := instance.Open(ctx, Product, o.Options)
	if err != nil {
		return nil, err
	}
	o.Options = i.Options
	a := &Addon{Instance: i, db: addondb.New(i.Database), now: o.Now, log: o.Log, access: &access.Control{Gate: i.Gate, Now: o.Now}, sender: hook.New(o.AllowPrivate, o.Version, o.Now)}
	var watchers [5]sqldb.Watcher
	a.Numbers = numbers.New(a.db, a.access)
	a.Credentials, watchers[0] = credential.New(a.db, a.access, o.Log)
	a.Licenses = license.New(a.db, a.access, i.People, o.AllowPrivate, o.Log)
	a.IAP, watchers[1] = iap.New(a.db, a.access, o.Log)
	a.Settings, watchers[2] = settings.New(a.db, a.access, a.IAP, o.Log)
	a.Events, watchers[3] = events.New(a.db, events.Options{
		Access: a.access, Queue: i.Jobs, Sender: a.sender, AllowPrivate: o.AllowPrivate, Lookup: net.DefaultResolver.LookupNetIP, Log: o.Log,
	})
	a.Setup, watchers[4] = setup.New(setup.Options{
		Version: o.Version, Instance: i, DB: a.db, Access: a.access, Settings: a.Settings, IAP: a.IAP, Credentials: a.Credentials, Licenses: a.Licenses, Log: o.Log,
	})
	for _, w := range watchers {
		i.Database.Watch(w)
	}
	a.openMembers(o.PlayURL)
	return a, nil
}

// openMembers opens the memberships with the two stores that they ask; playURL is that of [Options].
func (a *Addon) openMembers(playURL string) {
	a.Members = membership.New(membership.Options{DB: a.db, Access: a.access, IAP: a.IAP, Events: a.Events, PlayURL: playURL, Log: a.log})
	a.Simulator = simulator.New(simulator.Options{DB: a.db, Access: a.access, Selling: a.IAP.Selling, Members: a.Members, Events: a.Events, Log: a.log})
	a.Members.Handle(a.Instance.Jobs)
	a.Simulator.Handle(a.Instance.Jobs)
	a.Instance.Database.Watch(a.Members.Watcher())
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
	a.Licenses.Close()
	a.sender.Close()
	return a.Instance.Close(ctx)
}
