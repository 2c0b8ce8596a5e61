package main

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/spf13/cobra"
)

func newAPIList(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the pairs, without their values", Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error {
				all, err := s.Credentials(ctx, operator())
				if err != nil {
					return err
				}
				l := a.newList("ID", "LABEL", "KEY", "IS", "SECRET", "IS", "CREATED", "LAST USED (UTC)", "FROM", "USES")
				for _, c := range all {
					err := l.add(jsonOfCredential(c), idText(c.ID), c.Label, c.Key, active(c.KeyActive), c.Secret, active(c.SecretActive),
						day(countersign.At(c.CreatedAt)), minute(countersign.At(c.LastUsedAt)), c.LastUsedFrom, thousands(c.UsedCount))
					if err != nil {
						return err
					}
				}
				return l.end("No API credentials. Create them with: countersign addon api create LABEL")
			})
		},
	}
}
