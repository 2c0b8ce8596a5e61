package access

import (
	"time"

	"github.com/countersign/countersign/internal/fault"
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

// Why an addon can't be used.
var (
	ErrUpdateNeeded = fault.WithRetry(fault.Unavailable(fault.CodeUpdateNeeded, "The addon is not set up yet"), 10*time.Second)
	ErrOutdated     = fault.WithRetry(fault.Unavailable(fault.CodeUpdateNeeded, "This version of the addon has to update its database first"), 10*time.Second)
	ErrNewer        = fault.Conflict("schema_newer", "This database was written by a newer version of countersign; install that version or a later one")
	ErrNotPrepared  = fault.WithRetry(fault.Unavailable("unavailable", "The addon's database is not ready yet"), 2*time.Second)
)

// SetState notes how far the addon is set up.
func (g *Guard) SetState(s State) { g.state.Store(&s) }

// State returns how far the addon was set up when that was last read, "" when it is not known
// yet.
func (g *Guard) State() State {
	if s := g.state.Load(); s != nil {
		return *s
	}
	return ""
}

// Installed reports whether an update has run, so that there are users, settings and
// credentials, also those of an earlier version.
func (g *Guard) Installed() bool { return g.State() == StateReady || g.State() == StateOutdated }

// Ready returns why the services can't be used now, nil when they can.
func (g *Guard) Ready() error {
	switch g.State() {
	case StateReady:
		if !g.InForce() {
			return ErrNotPrepared
		}
		return nil
	case StateNew:
		return ErrUpdateNeeded
	case StateOutdated:
		return ErrOutdated
	case StateNewer:
		return ErrNewer
	}
	return ErrNotPrepared
}
