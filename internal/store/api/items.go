package api

import (
	"net/http"
	"strconv"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/prepared"
	"github.com/countersign/countersign/internal/web"
)

// listItems answers GET /api/items/all (spec 4.2).
func (f *frontEnd) listItems(w http.ResponseWriter, r *http.Request) error {
	_, access, err := f.authenticated(w, r)
	if err != nil {
		return err
	}
	items, err := f.store.Validation.Items(r.Context(), access.Actor, f.base(r))
	if err != nil {
		return fault.Public(err)
	}
	if err := f.withinQuota(w, access); err != nil {
		return err
	}
	return web.ServePrepared(w, r, items)
}

// getItem answers GET /api/items/item (spec 4.3).
func (f *frontEnd) getItem(w http.ResponseWriter, r *http.Request) error {
	p, access, err := f.authenticated(w, r, "item_id")
	if err != nil {
		return err
	}
	text, _ := p.Get("item_id")
	id := itemID(text)
	item, err := f.store.Validation.Item(r.Context(), access.Actor, id)
	if err != nil {
		return fault.Public(err)
	}
	web.SubjectOf(w).Item = id
	if err := f.withinQuota(w, access); err != nil {
		return err
	}
	return web.Cached(w, r, prepared.Success("item", f.printed(r, item)))
}

// itemID reads an item_id: digits only. 0 stands for everything else, which is
// no item's id.
func itemID(text string) int64 {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0
		}
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return id
}
