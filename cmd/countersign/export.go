package main

import (
	"context"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newExport(a *app) *cobra.Command {
	var withKeys bool
	c := on(a.withStore, &cobra.Command{
		Use: "export", Short: "Write the whole store to stdout, in the format of import", Args: cli.Args(),
		Example: "  countersign store export > store.jsonl",
	}, func(ctx context.Context, s *store.Store, _ []string) error {
		if withKeys {
			a.Warn("the export holds the values of all keys; keep it where only you can read it")
		}
		return s.Transfer.Export(ctx, operator(), a.Lines(true), withKeys)
	})
	c.Flags().BoolVar(&withKeys, "with-keys", false, "include the values of the keys; without them, an import creates new ones")
	return c
}
