package main

import (
	"context"

	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newPurchaseRefund(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "refund CODE", Short: "Mark a purchase as refunded: its code is no longer valid", Args: one("purchase code"),
		Long: "Mark a purchase as refunded: its code is no longer valid.\n\n" + codeHelp,
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
				p, err := s.RefundPurchase(ctx, operator(), code)
				if err != nil {
					return err
				}
				return a.printPurchase(p, found.Workspace)
			})
		},
	}
}
