package addon

import (
	"context"
	"errors"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/group"
)

// Run does the addon's background work until ctx ends: it waits for the first update,
// follows changes made by other processes, caches the public responses and the API credentials, and writes the
// credentials' last uses, the request counts of apps, and scheduled backups. It returns an error only when
// the addon can't be served, for example because its key file is wrong.
func (a *Addon) Run(ctx context.Context) error {
	if err := a.awaitUpdate(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	return a.Instance.Run(ctx, func(work *group.Group) {
		work.Start("cache of settings", a.Settings.Run)
		work.Start("cache of in-app purchases", a.IAP.Run)
		work.Start("events", a.Events.Run)
		work.Start("memberships", a.startMembers)
		work.Start("pulled notifications", a.Members.KeepPulling)
		work.Start("cache of API credentials", a.Credentials.Run)
		work.Start("last uses and requests", a.writeEvery)
		work.Start("old rows", a.tidyEvery)
		work.Go("later updates", a.Setup.Follow)
	})
}

// RunDue does the tasks that are due, one after the other, and returns when none is. It is for
// programs that do not call [Addon.Run].
func (a *Addon) RunDue(ctx context.Context) error {
	for {
		if ran, err := a.Instance.Jobs.RunNext(ctx); !ran || err != nil {
			return err
		}
	}
}

// awaitUpdate waits until the addon is set up and its database can be reached. A
// wait is told when it ends.
func (a *Addon) awaitUpdate(ctx context.Context) error {
	for waited := false; ; waited = true {
		err := a.Prepare(ctx)
		if err == nil && waited {
			a.log.Info("the addon is set up, and its database answers")
		}
		if ctx.Err() != nil || err == nil {
			return nil
		}
		if !fault.IsUnavailable(err) {
			return err
		}
		a.forgetRequests()
		_ = a.Setup.TidyLinkFile(ctx) // that it can't be removed is said once the addon is set up
		if !a.Setup.Sleep(ctx, 500*time.Millisecond) {
			return nil
		}
	}
}

// startMembers puts the tasks that repeat, as soon as the database answers.
func (a *Addon) startMembers(ctx context.Context) {
	for {
		err := errors.Join(a.Members.Start(ctx), a.Simulator.Start(ctx))
		if err == nil || ctx.Err() != nil {
			return
		}
		if !fault.IsUnavailable(err) {
			a.log.Error("the tasks of memberships could not be begun", "cause", err)
		}
		if !group.Sleep(ctx, time.Second, nil) {
			return
		}
	}
}

// tidyEvery removes, now and then every hour, what nobody needs any more, and the
// file of a set-up link when that ends.
func (a *Addon) tidyEvery(ctx context.Context) {
	for {
		if err := errors.Join(a.pruneRequests(ctx), a.Events.Prune(ctx), a.Setup.TidyLinkFile(ctx)); err != nil && ctx.Err() == nil {
			a.log.Warn("old rows and files could not be removed", "cause", err)
		}
		if !group.Sleep(ctx, a.Setup.LinkFileLasts(), nil) {
			return
		}
	}
}

// writeInterval is how often last uses and requests from apps are written.
const writeInterval = time.Minute

// writeEvery writes last uses and requests from apps, and removes old nonces, until ctx
// ends; [Addon.Close] writes the rest.
func (a *Addon) writeEvery(ctx context.Context) {
	group.Every(ctx, writeInterval, func(ctx context.Context) {
		a.Credentials.WriteUses(ctx)
		a.writeRequests(ctx)
		a.Credentials.PruneNonces(ctx)
	})
}
