package main

import (
	"context"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newRekey(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "rekey", Short: "Create a new key file, if the store's is lost or was disclosed", Args: cli.Args(),
		Long: `Create a new key file, if the store's is lost or was disclosed.

Purchase codes and API keys still work. Values of keys that can't be decrypted with the old
key file are deleted. These keys can't be revealed again. Those that were imported stop
working until they are imported again. No server may run on the data folder.`,
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
		a.Say("The key that signs licenses is lost. Licenses signed with it remain valid. A new key signs from now on, so build apps with the new key set.")
	}
	if len(plan.Dropped) == 0 && plan.LicenseKey == "" {
		a.Say("Nothing would be deleted.")
	}
	a.sayKeys(plan.Working(), "key still works", "keys still work", "but can't be shown again")
	a.sayKeys(plan.Ended, "imported key stops", "imported keys stop", "working until imported again, because it needs the lost key file")
	return a.Confirm(ctx, "Create a new key file?")
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
	}{views(done.Dropped), views(done.Ended), done.LicenseKey}, "Created a new key file in %s. Back it up separately from the database.", cli.Safe(a.Service.Dir))
}
