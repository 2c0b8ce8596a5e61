package pages

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
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
	now   time.Time
	errs  frame.Errors
	// ticked are the items that were chosen when the form was refused.
	ticked map[int64]bool
	all    bool
	// category is what was typed for the chosen ones.
	category string
}

func (p *Pages) showItems(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	page, err := p.itemsPage(r, itemList{ws: ws, query: r.URL.Query()})
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, page)
}

// itemsPage reads the list that a query asks for.
func (p *Pages) itemsPage(r *frame.Request, l itemList) (frame.Page, error) {
	page := frame.Page{Title: "Items", Crumbs: itemsCrumbs(l.ws)[:1]}
	l.now = p.frame.Now()
	filter, wrong := readItemFilter(l.query, l.now)
	filter.Limit = perPage
	if wrong != nil {
		l.errs = wrong
		page.Status = http.StatusUnprocessableEntity
	} else {
		var err error
		if l.ItemPage, err = p.store.PageItems(r.Context(), r.Actor, l.ws.Account.Username, filter); err != nil {
			return page, err
		}
	}
	page.Body = itemsView(l, wrong == nil)
	if isManager(l.ws) {
		page.Action = frame.LinkButton{Link: frame.Link{Label: "New item", Path: itemsPath(l.ws, "/new"), Icon: "plus"}, Kind: frame.Primary}
	}
	return page, nil
}

// The values of the filter by publication.
const (
	statusPublished = "published"
	statusScheduled = "scheduled"
)

var statusChoices = []frame.Choice{{Label: "All"}, {Value: statusPublished, Label: "Published"}, {Value: statusScheduled, Label: "Published later"}}

// readItemFilter reads what the list is to be narrowed to, and its order.
func readItemFilter(q url.Values, now time.Time) (f store.ItemFilter, wrong frame.Errors) {
	text := func(name string) string { return strings.TrimSpace(q.Get(name)) }
	f = store.ItemFilter{
		Kind: store.Kind(q.Get("kind")), Name: text("name"), Category: text("category"), Tag: text("tag"),
		After: idOf(q.Get("after")), Before: idOf(q.Get("before")),
	}
	if f.Kind != "" && kindNames[f.Kind] == "" {
		wrong = append(wrong, frame.FieldError{Name: "kind", Text: "Choose a kind from the list."})
	}
	switch q.Get("status") {
	case "":
	case statusScheduled:
		f.NotPublished = true
		fallthrough
	case statusPublished:
		f.PublishedBy = countersign.At(now)
	default:
		wrong = append(wrong, frame.FieldError{Name: "status", Text: "Choose a status from the list."})
	}
	order, backwards := strings.CutPrefix(q.Get("sort"), "-")
	f.Order, f.Backwards = store.ItemOrder(order), backwards
	switch f.Order {
	case store.ItemsByID, store.ItemsByName, store.ItemsByPrice, store.ItemsByPublication:
	default:
		wrong = append(wrong, frame.FieldError{Name: "sort", Text: "Choose an order from the list."})
	}
	return f, wrong
}

var sortChoices = []frame.Choice{
	{Label: "Newest first"}, {Value: "-", Label: "Oldest first"}, {Value: "name", Label: "Name, A to Z"}, {Value: "-name", Label: "Name, Z to A"},
	{Value: "price", Label: "Price, lowest first"}, {Value: "-price", Label: "Price, highest first"},
	{Value: "published", Label: "Published, earliest first"}, {Value: "-published", Label: "Published, latest first"},
}

// filter is what the list is narrowed by, with its order.
func (l itemList) filter() filter {
	return filterOf(l.query, "name", "kind", "category", "tag", "status", "sort")
}

// narrowed reports whether the list may lack items.
func (l itemList) narrowed() bool {
	return filterOf(l.query, "name", "kind", "category", "tag", "status").narrowed()
}

// path is the list from an item on, with the same filter.
func (l itemList) path(place string, i store.Item) string {
	return l.filter().path(itemsPath(l.ws, ""), place, strconv.FormatInt(i.ID, 10))
}

// here is an address below the list with the filter and the place of this page.
func (l itemList) here(below string, names ...string) string {
	q := url.Values(filterOf(l.query, append(names, "name", "kind", "category", "tag", "status", "sort")...))
	if len(q) == 0 {
		return itemsPath(l.ws, below)
	}
	return itemsPath(l.ws, below+"?"+q.Encode())
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
	p.Text, p.Sorted = counted(l.Count, "item"), l.query.Get("sort") != ""
	return p
}

// column is the head of a column in whose order the list can be.
func (l itemList) column(label, order string) frame.Column {
	c := frame.Column{Label: label}
	next := order
	switch sorted := l.query.Get("sort"); sorted {
	case order:
		c.Sorted, next = frame.Ascending, "-"+order
	case "-" + order:
		c.Sorted = frame.Descending
	}
	q := url.Values(filterOf(l.query, "name", "kind", "category", "tag", "status"))
	q.Set("sort", next)
	c.Sort = itemsPath(l.ws, "?"+q.Encode())
	return c
}

func (l itemList) columns() []frame.Column {
	price, sales := l.column("Regular, Extended", "price"), frame.Column{Label: "Sales", Number: true}
	price.Number = true
	return []frame.Column{l.column("Name", "name"), {Label: "Kind"}, {Label: "Category"}, {Label: "Version"}, price, sales, l.column("Published", "published")}
}

func (l itemList) rows() []frame.Row {
	rows := make([]frame.Row, len(l.Items))
	for n, i := range l.Items {
		published := frame.Time(i.PublishedAt.Time)
		if i.PublishedAt.After(l.now) {
			published = frame.Stack(published, frame.Badge{Text: "Later", Kind: frame.Note})
		}
		rows[n] = frame.Row{
			itemHead(l, i), frame.Words(kindNames[i.Kind]),
			frame.Words(cmp.Or(i.Category, "–")), frame.Words(cmp.Or(string(i.Version), "–")),
			frame.Stack(frame.Amount(i.Price.Regular.In(i.Currency)), frame.Muted(i.Price.Extended.In(i.Currency))), frame.Amount(upTo(l.Sales[i.ID], store.MaxSales)), published,
		}
	}
	return rows
}

func (l itemList) empty() frame.Empty {
	switch {
	case l.narrowed():
		return frame.Empty{Icon: "search", Title: "No matching items", Action: frame.Link{Label: "Show everything", Path: itemsPath(l.ws, "")}}
	case isManager(l.ws):
		return frame.Empty{Icon: "tag", Title: "No items yet", Text: "An item is something that is sold.", Action: frame.Link{Label: "New item", Path: itemsPath(l.ws, "/new")}}
	}
	return frame.Empty{Icon: "tag", Title: "No items yet", Text: "A manager of this workspace can create them."}
}
