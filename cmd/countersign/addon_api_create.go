package main

import (
	"context"

	"github.com/countersign/countersign/internal/addon"
	"github.com/spf13/cobra"
)

func newAPICreate(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "create LABEL", Short: "Make a pair, both halves active, and print it", Args: one("label"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error {
				made, values, err := s.CreateCredential(ctx, operator(), args[0])
				if err != nil {
					return err
				}
				return a.printPair(made, values)
			})
		},
	}
}
