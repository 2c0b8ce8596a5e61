package main

import (
	"context"

	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newLicenseRevoke(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "revoke ID", Short: "Revoke a license: it goes on the list that clients read", Args: one("license's id"),
		Long: `Revoke a license: it goes on the list that clients read, and its buyer can issue no other one
until you do. Clients that never fetch the list start with it as before.`,
		RunE: func(c *cobra.Command, args []string) error {
			return a.withStore(c, func(ctx context.Context, s *store.Store) error {
				l, err := s.Licensing.Revoke(ctx, operator(), args[0])
				if err != nil {
					return err
				}
				return a.printLicense(l)
			})
		},
	}
}
