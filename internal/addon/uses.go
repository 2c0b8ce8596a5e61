package addon

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/group"
)

// writeInterval is how often last uses and requests from apps are written.
const writeInterval = time.Minute

// writeEvery writes last uses and requests from apps until ctx ends; [Addon.Close]
// writes the rest.
func (a *Addon) writeEvery(ctx context.Context) {
	group.Every(ctx, writeInterval, func(ctx context.Context) {
		a.writeUses(ctx)
		a.writeRequests(ctx)
	})
}

// writeUses writes which credentials were used since the last time. What can't be
// written now is kept for the next time.
func (a *Addon) writeUses(ctx context.Context) {
	if err := a.uses.Write(ctx, a.database, "credentials"); err != nil {
		a.log.Warn("the credentials' last uses could not be written", "cause", err)
	}
}
