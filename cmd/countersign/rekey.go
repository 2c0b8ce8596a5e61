package main

import (
	"context"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newRekey(a *app) *cobra.Command {
	lock := func(c *cobra.Command, do func(context.Context, *store.Store) error) error {
		return a.lockStore(c, store.Options{}, store.Product.Check, do)
	}
	return on(lock, &cobra.Command{
		Use: "rekey", Short: "Create a new key file, if the store's is lost or was disclosed", Args: cli.Args(),
		Long: `Create a new key file, if the store's is lost or was disclosed.

Purchase codes and API keys still work. Values of keys that can't be decrypted with the old
key file are deleted. These keys can't be revealed again. Those that were imported stop
working until they are imported again. Secrets of authenticator apps are deleted too; recovery
codes still work. No server may run on the data folder.`,
		Example: `  countersign store rekey
  countersign store rekey --yes --json`,
	}, func(ctx context.Context, s *store.Store, _ []string) error {
		plan, err := s.PlanRekey(ctx)
		if err != nil {
			return err
		}
		a.sayRekey(plan)
		if err := a.confirmRekey(ctx); err != nil {
			return err
		}
		done, err := s.Rekey(ctx, operator())
		if err != nil {
			return err
		}
		return a.printRekey(done)
	})
}

// confirmRekey asks whether to create a new key file, after its cost was said.
func (a *app) confirmRekey(ctx context.Context) error {
	return a.Confirm(ctx, "Create a new key file?")
}

// rekeyed ends a command that has replaced the key file.
func (a *app) rekeyed(view any) error {
	return a.Done(view, "Created a new key file in %s. Back it up separately from the database.", cli.Safe(a.Service.Dir))
}

// sayNothingLost says that a new key file costs nothing.
func (a *app) sayNothingLost() { a.Say("Nothing would be deleted.") }

func (a *app) sayRekey(plan store.RekeyPlan) {
	if plan.LicenseKey != "" {
		a.Say("The key that signs licenses is lost. Licenses signed with it remain valid. A new key signs from now on, so build apps with the new key set.")
	}
	if len(plan.Dropped) == 0 && plan.LicenseKey == "" && plan.BackupPlace == "" && len(plan.Users) == 0 {
		a.sayNothingLost()
	}
	a.sayKeys(plan.Working(), "key still works", "keys still work", "but can't be shown again")
	a.sayKeys(plan.Ended, "imported key stops", "imported keys stop", "working until imported again, because it needs the lost key file")
	a.sayLost(plan.Lost)
}

func (a *app) sayKeys(keys []store.Key, one, many, what string) {
	sayLost(a, keys, one, many, what, func(k store.Key) string { return k.Workspace + "/" + k.Name + "  " + k.Hint })
}

// sayLost lists what a new key file costs, each thing on a line.
func sayLost[T any](a *app, lost []T, one, many, what string, line func(T) string) {
	if len(lost) > 0 {
		a.Say("%s %s:", cli.Count(len(lost), one, many), what)
	}
	for _, x := range lost {
		a.Say("  %s", cli.Safe(line(x)))
	}
}

// sayLost says what a new key file costs every service: that scheduled backups end, and whose authenticator app stops
// working.
func (a *app) sayLost(lost instance.Lost) {
	if lost.BackupPlace != "" {
		a.Say("Scheduled backups to %s end, until the place is set again with: %s backup schedule --out URL", cli.Safe(lost.BackupPlace), a.Service.Command)
	}
	sayLost(a, lost.Users, "user signs", "users sign", "in with a recovery code, or after "+a.Service.Command+" user reset-password EMAIL --remove-two-step",
		func(email string) string { return email })
}

func (a *app) printRekey(done store.RekeyPlan) error {
	views := func(keys []store.Key) []keyView {
		all := make([]keyView, len(keys))
		for i, k := range keys {
			all[i] = a.viewKey(k)
		}
		return all
	}
	return a.rekeyed(struct {
		Dropped []keyView `json:"dropped"`
		// Ended are those of the dropped that stopped working.
		Ended []keyView `json:"ended"`
		// LicenseKey is the kid of the key for licenses that was lost.
		LicenseKey string `json:"license_key,omitempty"`
		// Users are the e-mails of users whose authenticator app stopped working.
		Users []string `json:"users"`
		// BackupPlace is where scheduled backups went, whose schedule is off now.
		BackupPlace string `json:"backup_place,omitempty"`
	}{views(done.Dropped), views(done.Ended), done.LicenseKey, append([]string{}, done.Users...), done.BackupPlace})
}
