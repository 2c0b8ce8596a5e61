package main

import (
	"context"
	"io"

	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newExport(a *app) *cobra.Command {
	var withKeys bool
	c := &cobra.Command{
		Use: "export", Short: "Write the whole store to stdout, as import reads it", Args: none,
		Example: "  countersign store export > store.jsonl",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withStore(c, func(ctx context.Context, s *store.Store) error {
				if withKeys {
					a.warn("the export holds the values of all keys; keep it where only you can read it")
				}
				var out io.Writer = a.term.out
				if a.term.out.isTerminal {
					out = &safeLines{to: a.term.out, by: safeJSON}
				}
				return s.Transfer.Export(ctx, operator(), out, withKeys)
			})
		},
	}
	c.Flags().BoolVar(&withKeys, "with-keys", false, "write the values of the keys too; without, an import makes new ones")
	return c
}
