package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
)

const (
	// maxBulk is how many items can be changed at once.
	maxBulk = 1000
	// bulkPortion is how many of them one transaction changes.
	bulkPortion = 25
)

// ItemsChanged is the result of a change of several items.
type ItemsChanged struct {
	// Done counts the items that are now as they should be.
	Done int
	// Failed are the others, which stay as they are.
	Failed []ItemFailure
}

// ItemFailure is an item that was not changed, and why. Name is "" for one that does not exist.
type ItemFailure struct {
	ID           int64
	Name, Reason string
}

// PublishItems publishes items of a workspace now that were to be published later. For one that is
// published already, the reason in Failed says so.
func (s *Store) PublishItems(ctx context.Context, a people.Actor, workspace string, ids []int64) (ItemsChanged, error) {
	now := s.timestamp()
	return s.changeItems(ctx, a, workspace, ids, func(i *Item) error {
		if !i.PublishedAt.After(now.Time) {
			return fault.Conflict("item_published", "The item is already published")
		}
		i.PublishedAt = now
		return nil
	})
}

// SetItemsCategory puts items of a workspace into a category, "" for none.
func (s *Store) SetItemsCategory(ctx context.Context, a people.Actor, workspace string, ids []int64, category string) (ItemsChanged, error) {
	return s.changeItems(ctx, a, workspace, ids, func(i *Item) error {
		i.Category = category
		return nil
	})
}

// changeItems changes items as [Store.EditItem] does, some in each transaction. When the database
// fails on the way, the items from there on have failed.
func (s *Store) changeItems(ctx context.Context, a people.Actor, workspace string, ids []int64, change func(*Item) error) (ItemsChanged, error) {
	w, err := s.workspace(ctx, a, workspace, access.Manage)
	if err != nil {
		return ItemsChanged{}, err
	}
	ids = slices.Compact(slices.Sorted(slices.Values(ids))) // everybody locks them in this order
	if len(ids) == 0 || len(ids) > maxBulk {
		return ItemsChanged{}, fault.Invalid("items_chosen", fmt.Sprintf("Choose between 1 and %d items", maxBulk))
	}
	var all ItemsChanged
	for portion := range slices.Chunk(ids, bulkPortion) {
		part, err := s.changePortion(ctx, a, w, portion, change)
		if err != nil && all.Done+len(all.Failed) == 0 {
			return ItemsChanged{}, err
		}
		if err != nil {
			s.log.Error("items could not be changed", "cause", err)
			part = ItemsChanged{}
			for _, id := range portion {
				part.Failed = append(part.Failed, ItemFailure{ID: id, Reason: "The database failed; the log of the server has the cause"})
			}
		}
		all.Done, all.Failed = all.Done+part.Done, append(all.Failed, part.Failed...)
	}
	return all, nil
}

func (s *Store) changePortion(ctx context.Context, a people.Actor, w Workspace, ids []int64, change func(*Item) error) (part ItemsChanged, err error) {
	err = s.db.Tx(ctx, func(tx *storedb.DB) error {
		part = ItemsChanged{}
		for _, id := range ids {
			name := ""
			_, err := s.editItem(ctx, tx, a, id, func(i *Item, _ string) error {
				if i.WorkspaceID != w.ID {
					return rules.NoItem(id)
				}
				name = i.Name
				return change(i)
			})
			switch apiErr := fault.Of(err); {
			case err == nil, errors.Is(err, errSame):
				part.Done++
			case apiErr != nil && apiErr.Kind.Status() < countersign.KindInternal.Status():
				part.Failed = append(part.Failed, ItemFailure{id, name, apiErr.Message})
			default:
				return err
			}
		}
		return nil
	})
	return part, err
}
