package main

import (
	"context"

	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newWorkspaceList(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List all workspaces", Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withStore(c, func(ctx context.Context, s *store.Store) error {
				all, err := s.Workspaces(ctx, operator())
				if err != nil {
					return err
				}
				l := a.newList("USERNAME", "NAME", "E-MAIL", "BALANCE", "REGISTERED")
				for _, w := range all {
					account := w.Account
					err := l.add(workspaceJSON{account, w.Switches}, account.Username, account.Name.FullName, account.Email,
						money(account.Balance, account.Currency), day(account.RegisteredAt))
					if err != nil {
						return err
					}
				}
				return l.end("No workspace. Create one with: countersign store workspace create USERNAME")
			})
		},
	}
}
