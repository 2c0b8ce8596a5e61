package main

import (
	"context"

	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newRekey(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "rekey", Short: "Make a new key file for a store whose own is lost or was seen by somebody", Args: none,
		Long: `Make a new key file for a store whose own is lost or was seen by somebody.

Purchase codes and API keys go on working. The values of keys that the old key file does not
open any more are dropped: these keys can't be shown again, and those among them that were
imported stop working until they are imported again. No server may run on the data folder.`,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withLock(c, nil, func(ctx context.Context, s *store.Store) error {
				p, err := a.resolve(c, storeWhereabouts)
				if err != nil {
					return err
				}
				plan, err := s.PlanRekey(ctx)
				if err != nil {
					return err
				}
				if err := a.confirmRekey(ctx, plan); err != nil {
					return err
				}
				done, err := s.Rekey(ctx, operator())
				if err != nil {
					return err
				}
				return a.printRekey(done, p.dir)
			})
		},
	}
}

func (a *app) confirmRekey(ctx context.Context, plan store.RekeyPlan) error {
	if plan.LicenseKey != "" {
		a.say("The key that signs licenses is lost. Those it has signed stay good; a new key will sign, so build apps with the new key set.")
	}
	if len(plan.Dropped) == 0 && plan.LicenseKey == "" {
		a.say("Nothing would be dropped.")
	}
	working := plan.Working()
	if len(working) > 0 {
		a.say("%s on working, but can't be shown again:", count(len(working), "key goes", "keys go"))
	}
	for _, k := range working {
		a.say("  %s/%s  %s", safe(k.Workspace), safe(k.Name), safe(k.Hint))
	}
	if len(plan.Ended) > 0 {
		a.say("%s working until imported again, because it needs the lost key file:", count(len(plan.Ended), "imported key stops", "imported keys stop"))
	}
	for _, k := range plan.Ended {
		a.say("  %s/%s  %s", safe(k.Workspace), safe(k.Name), safe(k.Hint))
	}
	return a.confirm(ctx, "Make a new key file?")
}

// rekeyJSON is what rekey did, as --json prints it.
type rekeyJSON struct {
	Dropped []keyJSON `json:"dropped"`
	// Ended are those of the dropped that stopped working.
	Ended []keyJSON `json:"ended"`
	// LicenseKey is the kid of the key for licenses that was lost.
	LicenseKey string `json:"license_key,omitempty"`
}

func (a *app) printRekey(done store.RekeyPlan, dir string) error {
	out := rekeyJSON{Dropped: []keyJSON{}, Ended: []keyJSON{}, LicenseKey: done.LicenseKey}
	for _, k := range done.Dropped {
		out.Dropped = append(out.Dropped, jsonOfKey(k, a.now()))
	}
	for _, k := range done.Ended {
		out.Ended = append(out.Ended, jsonOfKey(k, a.now()))
	}
	if a.json {
		return a.printJSON(out)
	}
	a.say("Made a new key file in %s; back it up apart from the database.", safe(dir))
	return nil
}
