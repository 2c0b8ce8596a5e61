package main

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newKeyRotate(a *app) *cobra.Command {
	var overlap time.Duration
	c := &cobra.Command{
		Use: "rotate ID", Short: "Give a key a new value and print it", Args: one("key's id"),
		Long: `Give a key a new value and print it. The value before it goes on working for the overlap,
so that programs can be changed one after the other; --overlap 0 ends it at once.`,
		RunE: func(c *cobra.Command, args []string) error {
			id, err := parseID(c, "key", args[0])
			if err != nil {
				return err
			}
			if overlap < 0 {
				return usage(c, "--overlap can't be negative")
			}
			return a.withStore(c, func(ctx context.Context, s *store.Store) error {
				k, value, err := s.RotateKey(ctx, operator(), id, overlap)
				if err != nil {
					return err
				}
				if err := a.printKeyValue(k, value); err != nil {
					return err
				}
				a.sayWhereToPut(k)
				return nil
			})
		},
	}
	c.Flags().DurationVar(&overlap, "overlap", 24*time.Hour, "how long the old value goes on working, like 24h or 30m")
	return c
}
