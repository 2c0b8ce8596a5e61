package main

import (
	"context"

	"github.com/countersign/countersign/internal/addon"
	"github.com/spf13/cobra"
)

func newSettingsRollback(a *app) *cobra.Command {
	var note string
	c := &cobra.Command{
		Use: "rollback N", Short: "Give the values of an earlier version to the apps again", Args: one("version"),
		Long: `Give the values of an earlier version to the apps again, as a new version. Changes that wait
in the draft go on waiting there.`,
		RunE: func(c *cobra.Command, args []string) error {
			number, err := parseID(c, "version", args[0])
			if err != nil {
				return err
			}
			return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error {
				done, err := s.Settings.Rollback(ctx, operator(), number, note)
				if err != nil {
					return err
				}
				return a.printPublication(done)
			})
		},
	}
	c.Flags().StringVarP(&note, "message", "m", "", "a `note` for the history")
	return c
}
