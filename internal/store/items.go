package store

import (
	"context"
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
)

// Item is an item with all its media, also those its kind does not print.
type Item = storedb.Item

var (
	errNoItems      = fault.NotFound("no_items", "No items found")
	errItemNotFound = fault.NotFound("item_not_found", "Item Not Found")
)

// Items lists the items of a key's workspace by id, each as the API prints it
// (spec 4.2).
func (s *Store) Items(ctx context.Context, a people.Actor) (*Items, error) {
	if err := may(a, readWorkspace); err != nil {
		return nil, err
	}
	key := itemsKey(a.Workspace)
	kept, found, since := s.responses.others.Find(key)
	if !found {
		var err error
		kept, err = s.responses.once(ctx, key, since, func(ctx context.Context) (response, error) {
			return s.readItems(ctx, a.Workspace)
		})
		if err != nil {
			return nil, err
		}
	}
	return kept.(*Items), nil
}

func (s *Store) readItems(ctx context.Context, workspace int64) (response, error) {
	bodies, err := s.db.ItemBodies(ctx, workspace)
	if err != nil {
		return nil, err
	}
	if len(bodies) == 0 {
		return nil, errNoItems
	}
	items := &Items{bodies: bodies}
	for _, body := range bodies {
		items.bytes += len(body) + 1
	}
	return items, nil
}

// Item is one item of a key's workspace as the API prints it (spec 4.3). An id
// of 0 is no item's.
func (s *Store) Item(ctx context.Context, a people.Actor, id int64) (string, error) {
	if err := may(a, readWorkspace); err != nil {
		return "", err
	}
	item, err := s.item(ctx, a.Workspace, id)
	if err != nil {
		return "", sqldb.IfNotFound(err, errItemNotFound)
	}
	return item.body, nil
}

// item is what the API prints of an item, from memory or from the database.
func (s *Store) item(ctx context.Context, workspace, id int64) (cachedItem, error) {
	key := itemKey(workspace, id)
	kept, found, since := s.responses.others.Find(key)
	if found {
		return *kept.(*cachedItem), nil
	}
	body, support, err := s.db.ItemBody(ctx, workspace, id)
	if err != nil {
		return cachedItem{}, err
	}
	item := cachedItem{body, support}
	s.responses.store(key, &item, since)
	return item, nil
}

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
	if err := may(a, manage); err != nil {
		return Item{}, err
	}
	item, err := s.db.Item(ctx, id)
	return item, sqldb.IfNotFound(err, noItem(id))
}

func noItem(id int64) *countersign.Error {
	return fault.NotFound("item_not_found", fmt.Sprintf("There is no item %d", id))
}

// render makes the item's body: its media by the presence rules of spec 2.3.
func render(i *Item) error {
	printed := i.Item
	empty := ""
	present := func(p *string, is bool) *string {
		if !is {
			return nil
		}
		if p == nil {
			return &empty
		}
		return p
	}
	printed.Media.PreviewImage = present(i.Media.PreviewImage, i.Kind != storedb.KindAudio)
	printed.Media.PreviewVideo = present(i.Media.PreviewVideo, i.Kind == storedb.KindVideo)
	printed.Media.PreviewAudio = present(i.Media.PreviewAudio, i.Kind == storedb.KindAudio)
	body, err := countersign.EncodeJSON(printed)
	if err != nil {
		return fmt.Errorf("store: item %d: %w", i.ID, err)
	}
	i.Body = body
	return nil
}
