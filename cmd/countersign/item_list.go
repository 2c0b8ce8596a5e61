package main

import (
	"context"

	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newItemList(a *app) *cobra.Command {
	var workspace string
	c := &cobra.Command{
		Use: "list", Short: "List items", Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withStore(c, func(ctx context.Context, s *store.Store) error {
				names := []string{workspace}
				if workspace == "" {
					all, err := s.Workspaces(ctx, operator())
					if err != nil {
						return err
					}
					names = names[:0]
					for _, w := range all {
						names = append(names, w.Account.Username)
					}
				}
				return a.printItems(ctx, s, names)
			})
		},
	}
	c.Flags().StringVar(&workspace, "workspace", "", "only the items of this `username`")
	return c
}

func (a *app) printItems(ctx context.Context, s *store.Store, workspaces []string) error {
	l := a.newList("ID", "WORKSPACE", "NAME", "KIND", "VERSION", "REGULAR", "EXTENDED", "SUPPORT", "PUBLISHED")
	for _, name := range workspaces {
		items, err := s.ListItems(ctx, operator(), name)
		if err != nil {
			return err
		}
		for _, i := range items {
			err := l.add(jsonOfItem(i, name), idText(i.ID), name, i.Name, string(i.Kind), string(i.Version),
				money(i.Price.Regular, i.Currency), money(i.Price.Extended, i.Currency), yesNo(i.Support), day(i.PublishedAt))
			if err != nil {
				return err
			}
		}
	}
	return l.end("No item. Import some with: countersign store import FILE")
}
