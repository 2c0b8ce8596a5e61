package store

import (
	"context"

	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
)

// ItemFilter narrows a list of items, and is its order; its texts may be in any letters.
type ItemFilter = storedb.ItemFilter

// ItemOrder is the property by which a list of items is sorted.
type ItemOrder = storedb.ItemOrder

// The orders of items.
const (
	ItemsByID          = storedb.ItemsByID
	ItemsByName        = storedb.ItemsByName
	ItemsByPrice       = storedb.ItemsByPrice
	ItemsByPublication = storedb.ItemsByPublication
)

// MaxSales is up to where the purchases of an item in a list are counted.
const MaxSales = 1000

// ItemPage is a page of a list of items, in the order of its filter.
type ItemPage struct {
	Items []Item
	// Sales are the numbers of purchases by item, [MaxSales] at most.
	Sales map[int64]int64
	// Newer and Older report whether there are more on either side: before and behind.
	Newer, Older bool
	// Count is how many items the filter wants, [MaxCount] at most.
	Count int64
}

// PageItems reads a page of a workspace's items. f.Limit is how many it has at most. A place whose
// item does not exist in the workspace is item_not_found, but in the order of ids.
func (s *Store) PageItems(ctx context.Context, a people.Actor, workspace string, f ItemFilter) (ItemPage, error) {
	w, err := s.Workspace(ctx, a, workspace)
	if err != nil {
		return ItemPage{}, err
	}
	f = folded(f)
	beside, err := s.itemBeside(ctx, w, f)
	if err != nil {
		return ItemPage{}, err
	}
	limit := f.Limit
	f.Limit++ // the row behind the page says whether it is the last
	items, err := s.db.ItemPage(ctx, w.ID, f, beside)
	if err != nil {
		return ItemPage{}, err
	}
	page := ItemPage{Newer: f.After != 0, Older: f.Before != 0}
	more := len(items) > limit
	switch {
	case f.Before != 0:
		if page.Newer = more; more {
			items = items[1:]
		}
	default:
		if page.Older = more; more {
			items = items[:limit]
		}
	}
	page.Items, page.Count = items, int64(len(items))
	if page.Newer || page.Older { // else this page is all there is
		if page.Count, err = s.db.CountItems(ctx, w.ID, f, MaxCount); err != nil {
			return ItemPage{}, err
		}
	}
	page.Sales, err = s.db.SalesOfItems(ctx, items, MaxSales)
	return page, err
}

// folded has the texts of a filter in small letters.
func folded(f ItemFilter) ItemFilter {
	f.Name, f.Category, f.Tag = rules.LowerASCII(f.Name), rules.LowerASCII(f.Category), rules.LowerASCII(f.Tag)
	return f
}

// itemBeside is the item that a page is beside, one without an id for the first page.
func (s *Store) itemBeside(ctx context.Context, w Workspace, f ItemFilter) (Item, error) {
	id := max(f.After, f.Before)
	i := Item{}
	if i.ID = id; id == 0 || f.Order == ItemsByID {
		return i, nil
	}
	i, err := s.db.Item(ctx, id)
	if err == nil && i.WorkspaceID != w.ID {
		err = sqldb.ErrNotFound
	}
	return i, sqldb.IfNotFound(err, rules.NoItem(id))
}

// exportPortion is how many items one query of an export reads.
const exportPortion = 500

// EachItem calls fn with all of a workspace's items that a filter wants, in its order. It holds
// nothing of the database while fn runs.
func (s *Store) EachItem(ctx context.Context, a people.Actor, workspace string, f ItemFilter, fn func(Item) error) error {
	w, err := s.Workspace(ctx, a, workspace)
	if err != nil {
		return err
	}
	f = folded(f)
	f.Limit, f.Before = exportPortion, 0
	for beside := (Item{}); ; {
		items, err := s.db.ItemPage(ctx, w.ID, f, beside)
		if err != nil {
			return err
		}
		for _, i := range items {
			if err := fn(i); err != nil {
				return err
			}
		}
		if len(items) < exportPortion {
			return nil
		}
		beside = items[len(items)-1]
	}
}
