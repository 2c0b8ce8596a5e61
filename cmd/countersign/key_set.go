package main

import (
	"context"

	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newKeySet(a *app) *cobra.Command {
	var expires dateValue
	c := &cobra.Command{
		Use: "set ID --expires DATE|never", Short: "Give a key an end, or none", Args: one("key's id"),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := parseID(c, "key", args[0])
			if err != nil {
				return err
			}
			if err := require(c, "expires"); err != nil {
				return err
			}
			return a.withStore(c, func(ctx context.Context, s *store.Store) error {
				k, err := s.SetKeyExpiry(ctx, operator(), id, expires.Timestamp)
				if err != nil {
					return err
				}
				return a.printKey(k)
			})
		},
	}
	c.Flags().Var(&expires, "expires", "never, 2006-01-02 (the start of that day, UTC) or 2006-01-02T15:04:05Z")
	return c
}
