package addon

import (
	"context"

	"github.com/countersign/countersign"
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

// Prepare finds out how far the addon is set up and loads its key file. Before
// the first update it returns an error of kind Unavailable with the code
// update_needed, whose message names the command to run. Commands that need an
// addon call it after [Open]; a server calls [Addon.Run], which waits for it.
func (a *Addon) Prepare(ctx context.Context) error { return errNotBuilt }

// Installed tells whether an update has run, so that there are users, settings
// and credentials.
func (a *Addon) Installed() bool { return false }

// State tells how far the addon was set up when it was last looked at, "" when
// that is not known yet.
func (a *Addon) State() State { return "" }

// Run does the addon's background work until ctx ends: it waits for the first
// update, follows changes made by other processes, keeps the public answers in
// memory and writes the credentials' last uses. It returns an error only when the
// addon can't be served, for example because its key file is wrong.
func (a *Addon) Run(ctx context.Context) error { return errNotBuilt }

// Ready tells whether the addon can answer: updated, and its database alive.
func (a *Addon) Ready(ctx context.Context) error { return errNotBuilt }

// updateRan is told of changes by all processes.
func (a *Addon) updateRan(topic, _ string) {}

func (a *Addon) askForState() {}

var errNotBuilt = &countersign.Error{Kind: countersign.KindInternal, Message: "not built"}
