package addon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// State says how far an addon is set up.
type State string

// The states of an addon.
const (
	// StateNew has not seen a whole update yet.
	StateNew State = "new"
	// StateOutdated was set up by an earlier version; an update brings it on.
	StateOutdated State = "outdated"
	// StateReady is as this build expects.
	StateReady State = "ready"
	// StateNewer was set up by a later version.
	StateNewer State = "newer"
)

// metaUpdated is the name under which the database keeps when an update first ran
// to its end.
const metaUpdated = "addon_updated"

var (
	errUpdateNeeded = fault.WithRetry(fault.Unavailable(fault.CodeUpdateNeeded, "The addon is not set up yet"), 10*time.Second)
	errOutdated     = fault.WithRetry(fault.Unavailable(fault.CodeUpdateNeeded, "This version of the addon has to update its database first"), 10*time.Second)
	errNewer        = fault.Conflict("schema_newer", "This database was written by a newer version of countersign; install that version or a later one")
	errNotLooked    = fault.WithRetry(fault.Unavailable("unavailable", "The addon's database is not ready yet"), 2*time.Second)
)

// Prepare finds out how far the addon is set up and loads its key file. Before
// the first update it returns an error of kind Unavailable with the code
// update_needed. Commands that need an
// addon call it after [Open]; a server calls [Addon.Run], which waits for it.
func (a *Addon) Prepare(ctx context.Context) error {
	state, err := a.look(ctx)
	if err != nil {
		return err
	}
	if state == StateReady || state == StateOutdated {
		box, err := a.location.Open(ctx, a.db.Queries)
		if err != nil {
			return err
		}
		a.box.Store(box)
	}
	a.state.Store(&state)
	return a.ready()
}

// PrepareToServe is Prepare for the server. A database that lacks commits which it
// acknowledged is a conflict ([sqldb.CodeBehind]).
func (a *Addon) PrepareToServe(ctx context.Context) error {
	err := a.Prepare(ctx)
	if keyfile.IsDatabaseMissing(err) {
		return err
	}
	return cmp.Or(a.database.Behind(), err)
}

// AcceptLoss is PrepareToServe for a database that may lack commits. What it lacks is
// written into the audit log.
func (a *Addon) AcceptLoss(ctx context.Context, actor people.Actor) error {
	missing := a.database.MissingCommits()
	a.database.AcceptLoss()
	prepared := a.Prepare(ctx)
	if missing == 0 || !a.Installed() {
		return prepared
	}
	err := a.db.Tx(ctx, func(tx *addondb.DB) error {
		return a.guard.Audit(ctx, tx, actor, people.Event{Action: access.ActionAddonAcceptLoss, Detail: fmt.Sprintf("%d commits are missing", missing)})
	})
	return cmp.Or(err, prepared)
}

// Behind is an error of kind Conflict when the database lacks commits that it
// acknowledged. It can be read, and is not written before the loss is accepted.
func (a *Addon) Behind() error { return a.database.Behind() }

// look reads how far the addon is set up. It writes nothing. An empty database beside
// a key file is a conflict.
func (a *Addon) look(ctx context.Context) (State, error) {
	tables, err := a.location.State(ctx, a.database)
	if err != nil {
		return "", err
	}
	switch tables {
	case sqldb.StateEmpty:
		return StateNew, nil
	case sqldb.StateNewer:
		return StateNewer, nil
	}
	updated, err := a.db.Meta(ctx, metaUpdated)
	switch {
	case err != nil:
		return "", err
	case updated == "":
		return StateNew, nil
	case tables == sqldb.StateOlder:
		return StateOutdated, nil
	}
	return StateReady, nil
}

// State tells how far the addon was set up when it was last looked at, "" when
// that is not known yet.
func (a *Addon) State() State {
	if s := a.state.Load(); s != nil {
		return *s
	}
	return ""
}

// Installed reports whether an update has run, so that there are users, settings
// and credentials.
func (a *Addon) Installed() bool { return a.State() == StateReady || a.State() == StateOutdated }

// ready reports whether rules can be used, or why not.
func (a *Addon) ready() error {
	switch a.State() {
	case StateReady:
		return nil
	case StateNew:
		return errUpdateNeeded
	case StateOutdated:
		return errOutdated
	case StateNewer:
		return errNewer
	}
	return errNotLooked
}

// Run does the addon's background work until ctx ends: it waits for the first
// update, follows changes made by other processes, keeps the public answers in
// memory and writes the credentials' last uses and the number of requests from
// apps. It returns an error only when the
// addon can't be served, for example because its key file is wrong.
func (a *Addon) Run(ctx context.Context) error {
	if err := a.awaitUpdate(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	work := group.New(ctx, a.log)
	work.Start("feed of changes", a.database.Feed)
	work.Start("write-ahead log", a.database.KeepLogShort)
	work.Start("number of commits", a.database.KeepCommits)
	work.Start("files", a.database.WatchFiles)
	work.Start("integrity", func(ctx context.Context) { a.database.WatchIntegrity(ctx, a.now) })
	work.Start("cache of settings", a.Settings.Run)
	work.Start("cache of in-app purchases", a.IAP.Run)
	work.Start("last uses and requests", a.writeEvery)
	work.Start("old rows", a.tidyEvery)
	work.Start("failed sign-ins", a.people.Run)
	work.Start("audit seals", a.chain.Run)
	work.Go("later updates", a.watchUpdates)
	return work.Wait()
}

// awaitUpdate waits until the addon is set up and its database can be reached. A
// wait is told when it ends.
func (a *Addon) awaitUpdate(ctx context.Context) error {
	for waited := false; ; waited = true {
		err := a.Prepare(ctx)
		if err == nil && waited {
			a.log.Info("the addon is set up, and its database is there")
		}
		if ctx.Err() != nil || err == nil {
			return nil
		}
		if !fault.IsUnavailable(err) {
			return err
		}
		a.forgetRequests()
		_ = a.tidySetupFile(ctx) // that it can't be removed is said once the addon is set up
		if !group.Sleep(ctx, 500*time.Millisecond, a.updated) {
			return nil
		}
	}
}

// watchUpdates returns an error when a later version has updated the database,
// and nil when ctx ends.
func (a *Addon) watchUpdates(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-a.updated:
		}
		for err := a.Prepare(ctx); err != nil; err = a.Prepare(ctx) {
			if ctx.Err() == nil && !fault.IsUnavailable(err) {
				return err
			}
			if !group.Sleep(ctx, time.Second, nil) {
				return nil
			}
		}
	}
}

// Ready returns an error unless the addon is updated, its database answers and is the
// one that was prepared, and nothing keeps it from being written.
func (a *Addon) Ready(ctx context.Context) error {
	if err := a.ready(); err != nil {
		return err
	}
	return keyfile.Present(ctx, a.database, a.box.Load())
}

// updateRan is told of changes by all processes.
func (a *Addon) updateRan(topic, _ string) {
	if topic == addondb.TopicUpdate {
		a.askForState()
	}
}

// askForState wakes whoever waits for an update, also after changes may have been
// missed.
func (a *Addon) askForState() {
	select {
	case a.updated <- struct{}{}:
	default:
	}
}

// tidyEvery removes, now and then every hour, what nobody needs any more, and the
// file of a set-up link when that ends.
func (a *Addon) tidyEvery(ctx context.Context) {
	for {
		if err := errors.Join(a.database.PruneChanges(ctx), a.pruneRequests(ctx), a.tidySetupFile(ctx)); err != nil && ctx.Err() == nil {
			a.log.Warn("old rows and files could not be removed", "cause", err)
		}
		if !group.Sleep(ctx, a.setupFileLasts(), nil) {
			return
		}
	}
}
