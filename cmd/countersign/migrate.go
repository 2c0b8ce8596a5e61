package main

import (
	"context"
	"strconv"

	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newMigrate(a *app) *cobra.Command {
	return newGroup(&cobra.Command{
		Use: "migrate", Short: "The database's tables: look at their version, bring them to this one", SuggestionsMinimumDistance: 2,
	}, newMigrateStatus(a), newMigrateUp(a))
}

func newMigrateStatus(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "List the steps and which of them the database has", Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withDatabase(c, true, func(ctx context.Context, s *store.Store) error {
				steps, err := s.Migrations(ctx)
				if err != nil {
					return err
				}
				return a.printMigrations(steps)
			})
		},
	}
}

func (a *app) printMigrations(steps []sqldb.Migration) error {
	l := a.newList("TABLES", "VERSION", "STEP", "APPLIED")
	for _, m := range steps {
		if err := l.add(m, m.Schema, strconv.FormatInt(m.Version, 10), m.Name, yesNo(m.Applied)); err != nil {
			return err
		}
	}
	return l.end("No step.")
}
