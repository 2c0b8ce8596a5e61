package main

import (
	"context"
	"slices"

	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newMigrateUp(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "up", Short: "Bring the tables to this version, after a backup", Args: none,
		Long: `Bring the tables to this version, after a backup into the data folder.
No server may run on the data folder; store serve does the same when it starts.`,
		RunE: func(c *cobra.Command, _ []string) error {
			migrated := a.migrationProgress(func(percent, total int64) { a.say("migrated %d %% of %s purchases", percent, thousands(total)) })
			return a.withLock(c, migrated, func(ctx context.Context, s *store.Store) error {
				steps, err := s.Migrations(ctx)
				if err != nil {
					return err
				}
				backup, err := s.Migrate(ctx)
				if err != nil {
					return err
				}
				steps = slices.DeleteFunc(steps, func(m sqldb.Migration) bool { return m.Applied })
				return a.printMigrated(steps, backup)
			})
		},
	}
}

// migratedJSON is what migrate up did, as --json prints it.
type migratedJSON struct {
	Applied []sqldb.Migration `json:"applied"`
	Backup  *string           `json:"backup"`
}

func (a *app) printMigrated(applied []sqldb.Migration, backup string) error {
	out := migratedJSON{Applied: []sqldb.Migration{}}
	for _, m := range applied {
		m.Applied = true
		out.Applied = append(out.Applied, m)
	}
	if backup != "" {
		out.Backup = &backup
		a.say("The database as it was is in %s (without the key file).", backup)
	}
	if a.json {
		return a.printJSON(out)
	}
	if len(out.Applied) == 0 {
		a.say("Nothing to do: the tables are at this version.")
		return nil
	}
	return a.printMigrations(out.Applied)
}
