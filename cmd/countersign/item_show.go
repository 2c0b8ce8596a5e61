package main

import (
	"context"
	"strings"

	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newItemShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show an item", Args: one("item's id"),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := parseID(c, "item", args[0])
			if err != nil {
				return err
			}
			return a.withStore(c, func(ctx context.Context, s *store.Store) error {
				i, err := s.ShowItem(ctx, operator(), id)
				if err != nil {
					return err
				}
				names, err := usernames(ctx, s)
				if err != nil {
					return err
				}
				return a.printCard(jsonOfItem(i, names[i.WorkspaceID]), itemPairs(i, names[i.WorkspaceID])...)
			})
		},
	}
}

func itemPairs(i store.Item, workspace string) []pair {
	optional := func(link *string) string {
		if link == nil {
			return ""
		}
		return *link
	}
	return append([]pair{
		{"Id", idText(i.ID)}, {"Workspace", workspace}, {"Name", i.Name}, {"Kind", string(i.Kind)}, {"Version", string(i.Version)},
		{"Category", i.Category}, {"Sub-category", i.SubCategory}, {"Options", strings.Join(i.Options, ", ")},
		{"Tags", strings.Join(i.Tags, ", ")}, {"Description", i.Description},
		{"Regular", money(i.Price.Regular, i.Currency)}, {"Extended", money(i.Price.Extended, i.Currency)},
		{"Support", yesNo(i.Support)}, {"Published", second(i.PublishedAt)}, {"Demo", i.DemoLink},
		{"Thumbnail", i.Media.Thumbnail}, {"Preview image", optional(i.Media.PreviewImage)},
		{"Preview video", optional(i.Media.PreviewVideo)}, {"Preview audio", optional(i.Media.PreviewAudio)},
		{"Screenshots", strings.Join(i.Media.Screenshots, " ")},
	}, licensingPairs(i.Licensing)...)
}
