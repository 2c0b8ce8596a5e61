package main

import (
	"context"
	"fmt"

	"github.com/countersign/countersign/internal/addon"
	"github.com/spf13/cobra"
)

func newAPIRotate(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "rotate ID", Short: "Give a pair new values and print them; the old ones end at once", Args: one("pair's id"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withPair(c, args[0], func(ctx context.Context, s *addon.Addon, id int64) error {
				if err := a.confirm(ctx, fmt.Sprintf("The values of pair %d end at once, also where they are in use. Go on?", id)); err != nil {
					return err
				}
				made, values, err := s.RotateCredential(ctx, operator(), id)
				if err != nil {
					return err
				}
				return a.printPair(made, values)
			})
		},
	}
}
