package main

import (
	"context"

	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newKeyReveal(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "reveal ID", Short: "Print a key again; this is written to the audit log", Args: one("key's id"),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := parseID(c, "key", args[0])
			if err != nil {
				return err
			}
			return a.withStore(c, func(ctx context.Context, s *store.Store) error {
				k, value, err := s.RevealKey(ctx, operator(), id)
				if err != nil {
					return err
				}
				return a.printKeyValue(k, value)
			})
		},
	}
}
