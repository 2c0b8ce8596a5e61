package main

import (
	"context"

	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newPurchaseShow(a *app) *cobra.Command {
	var purchase purchaseArg
	cmd := &cobra.Command{
		Use: "show CODE", Short: "Show a purchase", Args: purchase.check,
		Long: "Show a purchase.\n\n" + codeHelp,
		RunE: func(c *cobra.Command, args []string) error {
			return purchase.with(a, c, args, func(ctx context.Context, s *store.Store, code string) error {
				found, err := s.Validation.Show(ctx, operator(), code)
				if err != nil {
					return err
				}
				return a.printPurchase(found.Purchase, found.Workspace)
			})
		},
	}
	purchase.register(cmd)
	return cmd
}
