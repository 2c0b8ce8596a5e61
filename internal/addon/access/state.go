package access

import (
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/instance"
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

// Why an addon can't be used: the reasons of its gate.
var (
	ErrUpdateNeeded = fault.WithRetry(fault.Unavailable(fault.CodeUpdateNeeded, "The addon is not set up yet"), 10*time.Second)
	ErrOutdated     = fault.WithRetry(fault.Unavailable(fault.CodeUpdateNeeded, "This version of the addon has to update its database first"), 10*time.Second)
)

// SetState notes how far the addon is set up.
func (c *Control) SetState(s State) {
	c.SetReason(map[State]*countersign.Error{StateNew: ErrUpdateNeeded, StateOutdated: ErrOutdated, StateNewer: instance.ErrSchemaNewer}[s])
}

// State returns how far the addon was set up when that was last read, "" when it is not known
// yet.
func (c *Control) State() State {
	switch c.Reason() {
	case nil:
		return StateReady
	case ErrUpdateNeeded:
		return StateNew
	case ErrOutdated:
		return StateOutdated
	case instance.ErrSchemaNewer:
		return StateNewer
	}
	return ""
}

// Installed reports whether an update has run, so that there are users, settings and
// credentials, also those of an earlier version.
func (c *Control) Installed() bool { return c.State() == StateReady || c.State() == StateOutdated }
