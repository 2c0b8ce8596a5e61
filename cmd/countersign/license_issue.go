package main

import (
	"context"

	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newLicenseIssue(a *app) *cobra.Command {
	var flags licenseFlags
	var purchase purchaseArg
	c := &cobra.Command{
		Use: "issue CODE --domain D", Short: "Issue the license of a purchase for a domain and print it", Args: purchase.check,
		Long: `Issue the license of a purchase for a domain and print it. One that is there is given again.

The item's limit of domains holds here too. A purchase of which a license was revoked gets
a new one, and its buyer may issue again.

` + codeHelp,
		Example: "  countersign store license issue 7c0f3b1e-5d2a-4c44-9b1e-000000000001 --domain shop.example --out license.jwt\n" +
			"  countersign store license issue - --domain shop.example < code.txt",
		RunE: func(c *cobra.Command, args []string) error {
			if err := flags.check(c); err != nil {
				return err
			}
			return purchase.with(a, c, args, func(ctx context.Context, s *store.Store, code string) error {
				l, err := s.Licensing.Issue(ctx, operator(), flags.baseURL, code, flags.domain)
				if err != nil {
					return err
				}
				return a.printSigned(l, flags)
			})
		},
	}
	flags.register(c)
	purchase.register(c)
	return c
}
