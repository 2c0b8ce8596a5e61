package main

import (
	"context"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/spf13/cobra"
)

func newPackageAdd(a *app) *cobra.Command {
	var rank int64
	var free bool
	c := &cobra.Command{
		Use: "add ID NAME", Short: "Add a package", Args: two("package's id", "name"),
		Example: `  countersign addon package add 1 Basic --free
  countersign addon package add 2 Gold --rank 10`,
		RunE: func(c *cobra.Command, args []string) error {
			id, err := parseID(c, "package", args[0])
			if err != nil {
				return err
			}
			p := iap.Package{ID: id, Name: args[1], Rank: rank, Paid: !free}
			return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error {
				if err := s.IAP.AddPackage(ctx, operator(), p); err != nil {
					return err
				}
				return a.printPackage(p)
			})
		},
	}
	c.Flags().Int64Var(&rank, "rank", 0, "its place among the others: the higher, the more it gives")
	c.Flags().BoolVar(&free, "free", false, "members do not pay for it")
	return c
}
