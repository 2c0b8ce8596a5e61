package main

import (
	"context"

	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newWorkspaceShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "show USERNAME", Short: "Show a workspace", Args: one("username"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withStore(c, func(ctx context.Context, s *store.Store) error {
				w, err := s.Workspace(ctx, operator(), args[0])
				if err != nil {
					return err
				}
				return a.printWorkspace(w)
			})
		},
	}
}
