package store

import (
	"context"

	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
)

// Item is an item with all its media, also those its kind does not print.
type Item = storedb.Item

// ListItems lists the items of a workspace by id, for the operator.
func (s *Store) ListItems(ctx context.Context, a people.Actor, workspace string) ([]Item, error) {
	w, err := s.Workspace(ctx, a, workspace)
	if err != nil {
		return nil, err
	}
	return s.db.Items(ctx, w.ID)
}

// ShowItem reads one item of the store, for the operator.
func (s *Store) ShowItem(ctx context.Context, a people.Actor, id int64) (Item, error) {
	if err := access.May(a, access.Manage); err != nil {
		return Item{}, err
	}
	item, err := s.db.Item(ctx, id)
	return item, sqldb.IfNotFound(err, rules.NoItem(id))
}
