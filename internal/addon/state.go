package addon

import (
	"cmp"
	"context"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/keyfile"
)

// State returns how far the addon was set up when that was last read, "" when it is not known
// yet.
func (a *Addon) State() access.State { return a.access.State() }

// Installed reports whether an update has run, so that there are users, settings
// and credentials.
func (a *Addon) Installed() bool { return a.access.Installed() }

// Prepare is [setup.Service.Prepare]. Commands that need an addon call it after [Open]; a server
// calls [Addon.Run], which waits for it.
func (a *Addon) Prepare(ctx context.Context) error { return a.Setup.Prepare(ctx) }

// PrepareToServe is Prepare for the server. A database that lacks commits which it
// acknowledged is a conflict ([sqldb.CodeBehind]).
func (a *Addon) PrepareToServe(ctx context.Context) error {
	err := a.Prepare(ctx)
	if keyfile.IsDatabaseMissing(err) {
		return err
	}
	return cmp.Or(a.Instance.Database.Behind(), err)
}
