package main

import (
	"context"

	"github.com/countersign/countersign/internal/addon"
	"github.com/spf13/cobra"
)

func newAPIReveal(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "reveal ID", Short: "Print a pair again; this is written to the audit log", Args: one("pair's id"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withPair(c, args[0], func(ctx context.Context, s *addon.Addon, id int64) error {
				shown, values, err := s.RevealCredential(ctx, operator(), id)
				if err != nil {
					return err
				}
				return a.printPair(shown, values)
			})
		},
	}
}
