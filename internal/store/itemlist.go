package store

import (
	"context"

	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
)

// ItemFilter narrows a list of items; its texts may be in any letters.
type ItemFilter = storedb.ItemFilter

// ItemPage is a page of a list of items, newest id first.
type ItemPage struct {
	Items []Item
	// Newer and Older report whether there are more on either side.
	Newer, Older bool
	// Count is how many items the filter wants, [MaxCount] at most.
	Count int64
}

// PageItems reads a page of a workspace's items. f.Limit is how many it has at most.
func (s *Store) PageItems(ctx context.Context, a people.Actor, workspace string, f ItemFilter) (ItemPage, error) {
	w, err := s.Workspace(ctx, a, workspace)
	if err != nil {
		return ItemPage{}, err
	}
	f.Name, f.Category = rules.LowerASCII(f.Name), rules.LowerASCII(f.Category)
	limit := f.Limit
	f.Limit++ // the row behind the page says whether it is the last
	items, err := s.db.ItemPage(ctx, w.ID, f)
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
		page.Count, err = s.db.CountItems(ctx, w.ID, f, MaxCount)
	}
	return page, err
}
