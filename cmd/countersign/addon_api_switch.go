package main

import (
	"context"

	"github.com/countersign/countersign/internal/addon"
	"github.com/spf13/cobra"
)

// newAPISwitch makes activate and deactivate.
func newAPISwitch(a *app, verb, short string, on bool) *cobra.Command {
	var key, secret bool
	c := &cobra.Command{
		Use: verb + " ID", Short: short, Args: one("pair's id"),
		Long: short + ". Without --key and --secret, both halves are meant; a call needs both.",
		RunE: func(c *cobra.Command, args []string) error {
			half := addon.HalfBoth
			switch {
			case key && !secret:
				half = addon.HalfKey
			case secret && !key:
				half = addon.HalfSecret
			}
			return a.withPair(c, args[0], func(ctx context.Context, s *addon.Addon, id int64) error {
				changed, err := s.SetCredentialActive(ctx, operator(), id, half, on)
				if err != nil {
					return err
				}
				return a.printCredential(changed)
			})
		},
	}
	c.Flags().BoolVar(&key, "key", false, "only the key")
	c.Flags().BoolVar(&secret, "secret", false, "only the secret")
	return c
}
