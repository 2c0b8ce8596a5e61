package main

import (
	"context"

	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newWorkspaceCreate(a *app) *cobra.Command {
	var flags workspaceFlags
	c := &cobra.Command{
		Use: "create USERNAME", Short: "Make a workspace", Args: one("username"),
		Example: "  countersign store workspace create ada --email ada@shop.example --firstname Ada --lastname Byron",
		RunE: func(c *cobra.Command, args []string) error {
			links, err := flags.parseLinks(c)
			if err != nil {
				return err
			}
			w := store.Workspace{}
			w.Account.Username, w.Account.Currency = args[0], "USD"
			flags.change(c.Flags(), links)(&w)
			return a.withNewStore(c, func(ctx context.Context, s *store.Store) error {
				made, err := s.CreateWorkspace(ctx, operator(), w)
				if err != nil {
					return err
				}
				a.say("Made the workspace %s. Make a key for its programs with: countersign store key create web --workspace %[1]s", args[0])
				return a.printWorkspace(made)
			})
		},
	}
	flags.register(c.Flags())
	c.Flags().Lookup("currency").Usage += " (default USD)"
	return c
}
