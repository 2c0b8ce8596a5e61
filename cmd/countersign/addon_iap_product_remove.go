package main

import (
	"context"
	"fmt"

	"github.com/countersign/countersign/internal/addon"
	"github.com/spf13/cobra"
)

func newProductRemove(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "remove STORE_ID", Short: "Take a store product out of the draft's map", Args: one("product's id at the store"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error {
				now, err := s.Settings.RemoveProduct(ctx, operator(), 0, args[0])
				if err != nil {
					return err
				}
				return a.printRemoved(args[0], fmt.Sprintf("The product %s is out of the draft's map.", args[0]), now)
			})
		},
	}
}
