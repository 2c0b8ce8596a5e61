package main

import (
	"context"
	"slices"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newMigrate(a *app) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use: "migrate", Short: "The database's tables: show their version, migrate them",
	}, newMigrateStatus(a), newMigrateUp(a))
}

type migrationView struct {
	Schema  string `json:"schema" row:"1,TABLES"`
	Version int64  `json:"version" row:"2,VERSION"`
	Name    string `json:"name" row:"3,STEP,text"`
	Applied bool   `json:"applied" row:"4,APPLIED"`
}

func viewMigration(m sqldb.Migration) migrationView { return migrationView(m) }

func newMigrateStatus(a *app) *cobra.Command {
	return a.Listing(&cobra.Command{
		Use: "status", Short: "List the migrations and which of them were applied", Args: cli.Args(),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.openStore(c, store.Options{Options: instance.Options{NoCreate: true}}, func(ctx context.Context, s *store.Store) error {
				steps, err := s.Migrations(ctx)
				return cli.PrintList(a.Console, steps, viewMigration, "No step.", err)
			})
		},
	})
}

func newMigrateUp(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "up", Short: "Migrate the tables to this version, after a backup", Args: cli.Args(),
		Long: `Migrate the tables to this version, after a backup into the data folder.
No server may run on the data folder; store serve does the same when it starts.`,
		RunE: func(c *cobra.Command, _ []string) error {
			progress := a.newProgress("migrating", func(percent, total int64) { a.Say("migrated %d %% of %s purchases", percent, cli.Thousands(total)) })
			return a.lockStore(c, store.Options{Options: instance.Options{Progress: progress.tell}}, store.Product.CheckAll, func(ctx context.Context, s *store.Store) error {
				steps, err := s.Migrations(ctx)
				if err != nil {
					return err
				}
				backup, err := s.Migrate(ctx)
				if err != nil {
					return err
				}
				steps = slices.DeleteFunc(steps, func(m sqldb.Migration) bool { return m.Applied })
				for i := range steps {
					steps[i].Applied = true
				}
				return a.printMigrated(steps, backup)
			})
		},
	}
}

// printMigrated prints the steps that were just done.
func (a *app) printMigrated(applied []sqldb.Migration, backup string) error {
	if backup != "" {
		a.Say("Backup of the database before the change: %s (without the key file).", backup)
	}
	if a.JSON {
		return a.PrintJSON(struct {
			Applied []sqldb.Migration `json:"applied"`
			Backup  *string           `json:"backup"`
		}{applied, cli.NonZero(backup)})
	}
	return cli.PrintList(a.Console, applied, viewMigration, "Nothing to do: the tables are at this version.", nil)
}
