package main

import (
	"context"

	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newPurchaseShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "show CODE", Short: "Show a purchase", Args: one("purchase code"),
		Long: "Show a purchase.\n\n" + codeHelp,
		RunE: func(c *cobra.Command, args []string) error {
			code, err := a.purchaseCode(c.Context(), args[0])
			if err != nil {
				return err
			}
			return a.withStore(c, func(ctx context.Context, s *store.Store) error {
				found, err := s.ShowPurchase(ctx, operator(), code)
				if err != nil {
					return err
				}
				return a.printPurchase(found.Purchase, found.Workspace)
			})
		},
	}
}
