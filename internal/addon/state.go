package addon

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

// State describes how far an addon is set up.
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
	if (state == StateReady || state == StateOutdated) && a.key.Box() == nil {
		box, err := a.location.Open(ctx, a.db.Queries)
		if err != nil {
			return err
		}
		a.key.Open(box)
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

// State returns how far the addon was set up when it was last looked at, "" when
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
		if !a.key.InForce() {
			return errNotLooked
		}
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

// Ready returns an error unless the addon is updated, its database answers and is the
// one that was prepared, and nothing keeps it from being written.
func (a *Addon) Ready(ctx context.Context) error {
	if err := a.ready(); err != nil {
		return err
	}
	return keyfile.Present(ctx, a.database, a.key.Box())
}

// changed is notified of changes by all processes.
func (a *Addon) changed(topic, _ string) {
	switch topic {
	case addondb.TopicUpdate:
		a.askForState()
	case peopledb.TopicUsers:
		a.endSetupFile()
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
