package main

import (
	"context"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/spf13/cobra"
)

func newProductAdd(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "add STORE_ID PACKAGE_ID", Short: "Let a store product give a package, in the draft", Args: two("product's id at the store", "package's id"),
		Example: `  countersign addon iap product add gold_monthly 1`,
		RunE: func(c *cobra.Command, args []string) error {
			id, err := parseID(c, "package", args[1])
			if err != nil {
				return err
			}
			return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error {
				now, err := s.Settings.AddProduct(ctx, operator(), 0, args[0], id)
				if err != nil {
					return err
				}
				return a.printSetting(now, iap.KeyProductMap)
			})
		},
	}
}
