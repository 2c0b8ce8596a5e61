package store

import (
	"context"

	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/storedb"
)

// ItemName is the id and the name of an item.
type ItemName = storedb.ItemName

// ListItemNames lists the names of a workspace's items by name, most at most.
func (s *Store) ListItemNames(ctx context.Context, a people.Actor, workspace string, most int) ([]ItemName, error) {
	w, err := s.Workspace(ctx, a, workspace)
	if err != nil {
		return nil, err
	}
	return s.db.ListItemNames(ctx, w.ID, most)
}
