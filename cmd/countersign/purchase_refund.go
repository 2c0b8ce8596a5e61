package main

import (
	"context"

	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newPurchaseRefund(a *app) *cobra.Command {
	var purchase purchaseArg
	cmd := &cobra.Command{
		Use: "refund CODE", Short: "Mark a purchase as refunded: its code is no longer valid", Args: purchase.check,
		Long: "Mark a purchase as refunded: its code is no longer valid.\n\n" + codeHelp,
		RunE: func(c *cobra.Command, args []string) error {
			return purchase.with(a, c, args, func(ctx context.Context, s *store.Store, code string) error {
				found, err := s.Validation.Show(ctx, operator(), code)
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
	purchase.register(cmd)
	return cmd
}
