package main

import (
	"context"

	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newKeyList(a *app) *cobra.Command {
	var workspace string
	c := &cobra.Command{
		Use: "list", Short: "List keys, without their values", Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withStore(c, func(ctx context.Context, s *store.Store) error {
				keys, err := s.Keys(ctx, operator(), workspace)
				if err != nil {
					return err
				}
				return a.printKeys(keys)
			})
		},
	}
	c.Flags().StringVar(&workspace, "workspace", "", "only the keys of this `username`")
	return c
}

func (a *app) printKeys(keys []store.Key) error {
	l := a.newList("ID", "WORKSPACE", "NAME", "CLASS", "ITEM", "KEY", "STATE", "CREATED", "EXPIRES", "LAST USED (UTC)", "FROM", "USES")
	for _, k := range keys {
		err := l.add(jsonOfKey(k, a.now()), idText(k.ID), k.Workspace, k.Name, string(k.Class), idText(k.ItemID), k.Hint,
			keyState(k, a.now()), day(k.CreatedAt), day(k.ExpiresAt), minute(k.LastUsedAt), k.LastUsedFrom, thousands(k.UsedCount))
		if err != nil {
			return err
		}
	}
	return l.end("No key. Create one with: countersign store key create NAME --workspace W")
}
