package main

import (
	"context"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newRekey(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "rekey", Short: "Make a new key file for a store whose own is lost or was seen by somebody", Args: cli.Args(),
		Long: `Make a new key file for a store whose own is lost or was seen by somebody.

Purchase codes and API keys go on working. The values of keys that the old key file does not
open any more are dropped: these keys can't be shown again, and those among them that were
imported stop working until they are imported again. No server may run on the data folder.`,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.lockStore(c, store.Options{}, func(ctx context.Context, s *store.Store) error {
				plan, err := s.PlanRekey(ctx)
				if err == nil {
					err = a.confirmRekey(ctx, plan)
				}
				if err != nil {
					return err
				}
				done, err := s.Rekey(ctx, operator())
				if err != nil {
					return err
				}
				return a.printRekey(done)
			})
		},
	}
}

func (a *app) confirmRekey(ctx context.Context, plan store.RekeyPlan) error {
	if plan.LicenseKey != "" {
		a.Say("The key that signs licenses is lost. Those it has signed stay good; a new key will sign, so build apps with the new key set.")
	}
	if len(plan.Dropped) == 0 && plan.LicenseKey == "" {
		a.Say("Nothing would be dropped.")
	}
	a.sayKeys(plan.Working(), "key goes", "keys go", "on working, but can't be shown again")
	a.sayKeys(plan.Ended, "imported key stops", "imported keys stop", "working until imported again, because it needs the lost key file")
	return a.Confirm(ctx, "Make a new key file?")
}

func (a *app) sayKeys(keys []store.Key, one, many, what string) {
	if len(keys) > 0 {
		a.Say("%s %s:", cli.Count(len(keys), one, many), what)
	}
	for _, k := range keys {
		a.Say("  %s/%s  %s", cli.Safe(k.Workspace), cli.Safe(k.Name), cli.Safe(k.Hint))
	}
}

func (a *app) printRekey(done store.RekeyPlan) error {
	views := func(keys []store.Key) []keyView {
		all := make([]keyView, len(keys))
		for i, k := range keys {
			all[i] = a.viewKey(k)
		}
		return all
	}
	return a.Done(struct {
		Dropped []keyView `json:"dropped"`
		// Ended are those of the dropped that stopped working.
		Ended []keyView `json:"ended"`
		// LicenseKey is the kid of the key for licenses that was lost.
		LicenseKey string `json:"license_key,omitempty"`
	}{views(done.Dropped), views(done.Ended), done.LicenseKey}, "Made a new key file in %s; back it up apart from the database.", cli.Safe(a.Service.Dir))
}
