package main

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/spf13/cobra"
)

func newItem(a *app) *cobra.Command {
	return newGroup(&cobra.Command{
		Use: "item", Short: "What is sold: list, show, set what its licenses may be for (items come in by: store import)", SuggestionsMinimumDistance: 2,
	}, newItemList(a), newItemShow(a), newItemSet(a))
}

// itemJSON is an item as --json prints it: the item as the API prints it, and
// what only the store knows.
type itemJSON struct {
	Workspace string `json:"workspace"`
	Kind      string `json:"kind"`
	Support   bool   `json:"support"`
	countersign.Item
	Licensing licensing.Rule `json:"licensing"`
}

func jsonOfItem(i store.Item, workspace string) itemJSON {
	return itemJSON{Workspace: workspace, Kind: string(i.Kind), Support: i.Support, Item: i.Item, Licensing: i.Licensing}
}

// usernames maps the ids of all workspaces to their usernames.
func usernames(ctx context.Context, s *store.Store) (map[int64]string, error) {
	all, err := s.Workspaces(ctx, operator())
	names := make(map[int64]string, len(all))
	for _, w := range all {
		names[w.ID] = w.Account.Username
	}
	return names, err
}
