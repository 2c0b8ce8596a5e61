package main

import (
	"context"

	"github.com/countersign/countersign/internal/addon"
	"github.com/spf13/cobra"
)

func newPackageRemove(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "remove ID", Short: "Remove a package that no product gives", Args: one("package's id"),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := parseID(c, "package", args[0])
			if err != nil {
				return err
			}
			return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error {
				if err := s.IAP.RemovePackage(ctx, operator(), id); err != nil {
					return err
				}
				if a.json {
					return a.printJSON(struct {
						Removed int64 `json:"removed"`
					}{id})
				}
				a.say("The package %d is gone.", id)
				return nil
			})
		},
	}
}
