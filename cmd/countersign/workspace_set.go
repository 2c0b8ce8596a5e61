package main

import (
	"context"

	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newWorkspaceSet(a *app) *cobra.Command {
	var flags workspaceFlags
	c := &cobra.Command{
		Use: "set USERNAME", Short: "Change a workspace and its switches", Args: one("username"),
		Example: `  countersign store workspace set ada --quota 600
  countersign store workspace set ada --always-200=false --social-link facebook=https://facebook.example/ada`,
		RunE: func(c *cobra.Command, args []string) error {
			if !anyChanged(c) {
				return usage(c, "nothing to set; give at least one flag")
			}
			links, err := flags.parseLinks(c)
			if err != nil {
				return err
			}
			return a.withStore(c, func(ctx context.Context, s *store.Store) error {
				w, err := s.SetWorkspace(ctx, operator(), args[0], flags.change(c.Flags(), links))
				if err != nil {
					return err
				}
				return a.printWorkspace(w)
			})
		},
	}
	flags.register(c.Flags())
	return c
}

// anyChanged reports whether a flag of the command's own was given.
func anyChanged(c *cobra.Command) bool {
	changed := false
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { changed = changed || f.Changed })
	return changed
}
