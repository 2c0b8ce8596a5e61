package main

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/blob"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/instance"
	"github.com/spf13/cobra"
)

// restoredView is what a restore did.
type restoredView struct {
	backupView
	Before  string   `json:"before,omitempty"`
	Aside   []string `json:"aside,omitempty"`
	Migrate bool     `json:"migrate"`
	// Authenticated is that of a backup that was verified.
	Authenticated string `json:"authenticated"`
}

func (b backupCommands) restore() *cobra.Command {
	var flags sourceFlags
	c := &cobra.Command{
		Use: "restore FILE", Short: "Replace everything by a backup", Args: cli.Args("FILE"),
		Long: `Replace the database, the key file and the uploaded files by those of a backup. What is
there is backed up first. No server may run on the data folder or the database. An interrupted
restore leaves everything as it was, or restored; it can be repeated.`,
	}
	flags.register(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return b.reading(c, flags, args[0], func(s *backup.Service, at location, from backup.Source) error {
			if err := b.Confirm(c.Context(), "Replace the "+b.service+" by the backup?"); err != nil {
				return err
			}
			lock, err := lockForCommand(c, at)
			if err != nil {
				return err
			}
			defer lock.Unlock()
			done, err := s.Restore(c.Context(), from)
			if err == nil && !done.Older {
				err = b.restored(c, lock, func(ctx context.Context, i *instance.Instance) error {
					return b.afterRestore(ctx, i.Backups, from, done)
				})
			}
			if err != nil {
				return damagedBackup(err)
			}
			return b.printRestored(args[0], done)
		})
	}
	return c
}

// afterRestore records a restore, and names the schedule that came with the backup: on a second
// machine it would write to the place of the first, and remove backups there.
func (b backupCommands) afterRestore(ctx context.Context, k *backup.Keeper, from backup.Source, done backup.Restored) error {
	if err := k.RecordRestore(ctx, operator(), from, done); err != nil {
		b.Warn("The restore is not in the audit log: %s", fault.Message(err))
	}
	s, err := k.Schedule(ctx, operator())
	if err != nil {
		b.Warn("Whether a schedule of backups was restored is not known: %s", fault.Message(err))
		return nil
	}
	if s.Active {
		v := viewSchedule(s, k.Service.Folder())
		b.Say("The schedule of backups was restored too: every %s to %s. If this is a copy, switch it off with: countersign %s backup schedule --off", v.Every, cli.Safe(v.Out), b.service)
	}
	return nil
}

func (b backupCommands) printRestored(file string, done backup.Restored) error {
	if done.Before != "" {
		b.Say("Backup of what was there before: %s", cli.Safe(done.Before))
	}
	for _, f := range done.Aside {
		b.Say("The damaged file was kept: %s", cli.Safe(f))
	}
	if done.Older {
		b.Say("The tables are of an older version; run: %s", b.flags.product.Migrate)
	}
	if i := done.Info; i.Authenticity != backup.Authentic {
		b.Say("Whether somebody changed the backup is not known. Authenticated: %s.", i.Authenticity)
	}
	if len(done.Info.Lacks) > 0 {
		b.Warn("The backup lacks %s.", blob.LacksText(done.Info.Lacks))
	}
	view := restoredView{viewBackup(file, done.Info), done.Before, done.Aside, done.Older, string(done.Info.Authenticity)}
	return b.Done(view, "Restored the backup of %s: %s rows.", done.Info.Header.CreatedAt.Format(time.RFC3339), cli.Thousands(done.Info.Rows()))
}
