package validation

import (
	"context"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/prepared"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
)

var (
	errNoItems      = fault.NotFound("no_items", "No items found")
	errItemNotFound = fault.NotFound("item_not_found", "Item Not Found")
)

// Items answers with the items of a key's workspace by id (spec 4.2). base is the URL of the
// store, at which the default pictures are.
func (v *Validator) Items(ctx context.Context, a people.Actor, base string) (*prepared.Response, error) {
	if err := access.May(a, access.ReadWorkspace); err != nil {
		return nil, err
	}
	key := itemsKey(a.Workspace, base)
	cached, found, since := v.responses.others.Find(key)
	if !found {
		var err error
		cached, err = v.responses.once(ctx, key, since, func(ctx context.Context) (response, error) {
			return v.readItems(ctx, a.Workspace, base)
		})
		if err != nil {
			return nil, err
		}
	}
	return cached.(*cachedItems).answer, nil
}

func (v *Validator) readItems(ctx context.Context, workspace int64, base string) (response, error) {
	bodies, err := v.db.ItemBodies(ctx, workspace)
	if err != nil {
		return nil, err
	}
	if len(bodies) == 0 {
		return nil, errNoItems
	}
	parts := []string{"["}
	bytes := 0
	for i, body := range bodies {
		if i > 0 {
			parts = append(parts, ",")
		}
		text := newItemText(body).With(base)
		parts = append(parts, text)
		bytes += len(text) + 1
	}
	return &cachedItems{prepared.New(prepared.Success("items", append(parts, "]")...)), bytes}, nil
}

// Item is one item of a key's workspace as the API prints it (spec 4.3). An id
// of 0 belongs to no item.
func (v *Validator) Item(ctx context.Context, a people.Actor, id int64) (ItemText, error) {
	if err := access.May(a, access.ReadWorkspace); err != nil {
		return ItemText{}, err
	}
	item, err := v.item(ctx, a.Workspace, id)
	if err != nil {
		return ItemText{}, sqldb.IfNotFound(err, errItemNotFound)
	}
	return item.text, nil
}

// ItemBody is the body in which the API answers with an item (spec 4.3), also with one that is not
// saved. The default pictures of a store at the URL base stand where it has none.
func ItemBody(i storedb.Item, base string) ([]byte, error) {
	if err := rules.RenderItem(&i); err != nil {
		return nil, err
	}
	return prepared.Success("item", newItemText(string(i.Body)).With(base)), nil
}

// item is what the API prints of an item, from memory or from the database.
func (v *Validator) item(ctx context.Context, workspace, id int64) (cachedItem, error) {
	key := itemKey(workspace, id)
	cached, found, since := v.responses.others.Find(key)
	if found {
		return *cached.(*cachedItem), nil
	}
	body, support, err := v.db.ItemBody(ctx, workspace, id)
	if err != nil {
		return cachedItem{}, err
	}
	item := cachedItem{newItemText(body), support}
	v.responses.store(key, &item, since)
	return item, nil
}
