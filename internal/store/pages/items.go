package pages

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
)

func itemsPath(ws store.WorkspaceRole, below string) string {
	return workspacePath(ws.Account.Username, "/items"+below)
}

func itemPath(ws store.WorkspaceRole, id int64, below string) string {
	return itemsPath(ws, "/"+strconv.FormatInt(id, 10)+below)
}

func itemsCrumbs(ws store.WorkspaceRole) []frame.Link {
	return []frame.Link{workspaceCrumb(ws), {Label: "Items", Path: itemsPath(ws, "")}}
}

// itemList is what the page of the list shows.
type itemList struct {
	ws store.WorkspaceRole
	store.ItemPage
	query url.Values // the filter, as the address has it
	errs  frame.Errors
}

func (p *Pages) showItems(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	l := itemList{ws: ws, query: r.URL.Query()}
	page := frame.Page{Title: "Items", Crumbs: itemsCrumbs(ws)[:1]}
	filter := store.ItemFilter{
		Kind: store.Kind(l.query.Get("kind")), Name: strings.TrimSpace(l.query.Get("name")), Category: strings.TrimSpace(l.query.Get("category")),
		After: idOf(l.query.Get("after")), Before: idOf(l.query.Get("before")), Limit: perPage,
	}
	if filter.Kind != "" && kindNames[filter.Kind] == "" {
		l.errs = frame.Errors{{Name: "kind", Text: "Choose a kind from the list."}}
		page.Status = http.StatusUnprocessableEntity
	} else {
		var err error
		if l.ItemPage, err = p.store.PageItems(r.Context(), r.Actor, ws.Account.Username, filter); err != nil {
			return err
		}
	}
	page.Body = itemsView(l)
	if isManager(ws) {
		page.Action = frame.LinkButton{Link: frame.Link{Label: "New item", Path: itemsPath(ws, "/new"), Icon: "plus"}, Kind: frame.Primary}
	}
	return p.frame.Show(w, r, page)
}

// filter is what the list is narrowed by.
func (l itemList) filter() filter { return filterOf(l.query, "name", "kind", "category") }

// path is the list from an item on, with the same filter.
func (l itemList) path(place string, i store.Item) string {
	return l.filter().path(itemsPath(l.ws, ""), place, strconv.FormatInt(i.ID, 10))
}

func (l itemList) pager() (p frame.Pager) {
	if len(l.Items) == 0 {
		return p
	}
	if l.Newer {
		p.Newer = l.path("before", l.Items[0])
	}
	if l.Older {
		p.Older = l.path("after", l.Items[len(l.Items)-1])
	}
	p.Text = counted(l.Count, "item")
	return p
}

func (l itemList) rows() []frame.Row {
	rows := make([]frame.Row, len(l.Items))
	for n, i := range l.Items {
		rows[n] = frame.Row{
			frame.Link{Label: strconv.FormatInt(i.ID, 10), Path: itemPath(l.ws, i.ID, "")}, frame.Words(i.Name), frame.Words(kindNames[i.Kind]),
			frame.Words(cmp.Or(i.Category, "–")), frame.Words(cmp.Or(string(i.Version), "–")),
			frame.Stack(frame.Amount(i.Price.Regular.String()+" "+i.Currency), frame.Muted(i.Price.Extended.String()+" "+i.Currency)), frame.Time(i.PublishedAt.Time),
		}
	}
	return rows
}

func (l itemList) empty() frame.Empty {
	switch {
	case l.filter().narrowed():
		return frame.Empty{Icon: "search", Title: "No matching items", Action: frame.Link{Label: "Show everything", Path: itemsPath(l.ws, "")}}
	case isManager(l.ws):
		return frame.Empty{Icon: "tag", Title: "No items yet", Text: "An item is something that is sold.", Action: frame.Link{Label: "New item", Path: itemsPath(l.ws, "/new")}}
	}
	return frame.Empty{Icon: "tag", Title: "No items yet", Text: "A manager of this workspace can create them."}
}
