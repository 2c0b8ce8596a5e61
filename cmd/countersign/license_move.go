package main

import (
	"context"

	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newLicenseMove(a *app) *cobra.Command {
	var flags licenseFlags
	c := &cobra.Command{
		Use: "move ID --domain D", Short: "Move a license to another domain and print the new one", Args: one("license's id"),
		Long: `Move a license to another domain and print the new one. The old one goes on the list of
revoked licenses. It counts as no move of the buyer's, who has some of their own every year.`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := flags.check(c); err != nil {
				return err
			}
			return a.withStore(c, func(ctx context.Context, s *store.Store) error {
				l, err := s.Licensing.Reassign(ctx, operator(), flags.baseURL, args[0], flags.domain)
				if err != nil {
					return err
				}
				return a.printSigned(l, flags)
			})
		},
	}
	flags.register(c)
	return c
}
