package main

import (
	"context"
	"strconv"

	"github.com/countersign/countersign/internal/addon"
	"github.com/spf13/cobra"
)

func newPackageList(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the packages", Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error {
				all, err := s.IAP.Packages(ctx, operator())
				if err != nil {
					return err
				}
				l := a.newList("ID", "NAME", "RANK", "PAID")
				for _, p := range all {
					if err := l.add(packageJSON{p.ID, p.Name, p.Rank, p.Paid}, idText(p.ID), p.Name, strconv.FormatInt(p.Rank, 10), yesNo(p.Paid)); err != nil {
						return err
					}
				}
				return l.end("No package. Add one with: countersign addon package add ID NAME")
			})
		},
	}
}
