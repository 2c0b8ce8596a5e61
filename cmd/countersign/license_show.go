package main

import (
	"context"

	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newLicenseShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show a license", Args: one("license's id"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withStore(c, func(ctx context.Context, s *store.Store) error {
				l, err := s.Licensing.Show(ctx, operator(), args[0])
				if err != nil {
					return err
				}
				return a.printLicense(l)
			})
		},
	}
}
