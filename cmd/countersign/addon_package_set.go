package main

import (
	"context"
	"fmt"

	"github.com/countersign/countersign/internal/addon"
	"github.com/spf13/cobra"
)

// packageSetFlags are what can be changed of a package. Only flags that were given
// change it.
type packageSetFlags struct {
	name string
	rank int64
	free bool
}

func newPackageSet(a *app) *cobra.Command {
	var flags packageSetFlags
	c := &cobra.Command{
		Use: "set ID", Short: "Change a package", Args: one("package's id"),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := parseID(c, "package", args[0])
			if err != nil {
				return err
			}
			if !anyChanged(c) {
				return usage(c, "nothing to set; give at least one flag")
			}
			return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error { return a.setPackage(ctx, s, c, id, flags) })
		},
	}
	fs := c.Flags()
	fs.StringVar(&flags.name, "name", "", "its name")
	fs.Int64Var(&flags.rank, "rank", 0, "its place among the others: the higher, the more it gives")
	fs.BoolVar(&flags.free, "free", false, "members do not pay for it; --free=false: they do")
	return c
}

func (a *app) setPackage(ctx context.Context, s *addon.Addon, c *cobra.Command, id int64, flags packageSetFlags) error {
	all, err := s.IAP.Packages(ctx, operator())
	if err != nil {
		return err
	}
	for _, p := range all {
		if p.ID != id {
			continue
		}
		if c.Flags().Changed("name") {
			p.Name = flags.name
		}
		if c.Flags().Changed("rank") {
			p.Rank = flags.rank
		}
		if c.Flags().Changed("free") {
			p.Paid = !flags.free
		}
		if err := s.IAP.UpdatePackage(ctx, operator(), p); err != nil {
			return err
		}
		return a.printPackage(p)
	}
	return fail(exitNotFound, "package_not_found", fmt.Sprintf("no package %d; list them with: countersign addon package list", id))
}
