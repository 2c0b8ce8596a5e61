package pages

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
)

// perPage is how many rows a page of a list has.
const perPage = 50

func purchasesPath(ws store.WorkspaceRole, below string) string {
	return workspacePath(ws.Account.Username, "/purchases"+below)
}

func purchasePath(ws store.WorkspaceRole, id int64, below string) string {
	return purchasesPath(ws, "/"+strconv.FormatInt(id, 10)+below)
}

func purchasesCrumbs(ws store.WorkspaceRole) []frame.Link {
	return []frame.Link{workspaceCrumb(ws), {Label: "Purchases", Path: purchasesPath(ws, "")}}
}

// stateNames are the states of a purchase as people read them.
var stateNames = map[store.State]string{
	store.StateActive: "Active", store.StateRefunded: "Refunded", store.StateChargedBack: "Charged back", store.StateRevoked: "Revoked",
}

func stateBadge(s store.State) frame.Badge {
	if s == store.StateActive {
		return frame.Badge{Text: stateNames[s], Kind: frame.Good}
	}
	return frame.Badge{Text: stateNames[s], Kind: frame.Warning}
}

// purchaseList is what the page of the list shows.
type purchaseList struct {
	ws store.WorkspaceRole
	store.PurchasePage
	names map[int64]string // of the items, by id
	items itemNames        // to narrow the list to one
	query url.Values       // the filter, as the address has it
	errs  frame.Errors
	more  bool // of a buyer there are others
}

// buyer is the buyer who is searched for, "" for none.
func (l purchaseList) buyer() string { return strings.TrimSpace(l.query.Get("buyer")) }

// findBuyer reads the purchases of the buyer who is searched for.
func (p *Pages) findBuyer(r *frame.Request, l *purchaseList) error {
	found, err := p.store.FindBuyer(r.Context(), r.Actor, l.ws.Account.Username, l.buyer())
	if err != nil {
		return err
	}
	l.Purchases, l.more, l.Count = found.Purchases, found.More, int64(len(found.Purchases))
	return p.readNames(r, l)
}

// foundText says how much a search has found.
func (l purchaseList) foundText() string {
	if l.more {
		return fmt.Sprintf("These are %d of the purchases found, and there are more. Type more of the name.", len(l.Purchases))
	}
	return frame.Count(len(l.Purchases), "purchase") + " found."
}

// readPurchases reads a page of the list with the names of its items.
func (p *Pages) readPurchases(r *frame.Request, l *purchaseList, f store.PurchaseFilter, at store.PurchasePlace) (err error) {
	if l.PurchasePage, err = p.store.ListPurchases(r.Context(), r.Actor, l.ws.Account.Username, f, at); err != nil {
		return err
	}
	return p.readNames(r, l)
}

// readNames reads the names of the items of the list.
func (p *Pages) readNames(r *frame.Request, l *purchaseList) (err error) {
	ids := make([]int64, len(l.Purchases))
	for i, sold := range l.Purchases {
		ids[i] = sold.ItemID
	}
	slices.Sort(ids)
	l.names, err = p.store.ItemNames(r.Context(), r.Actor, l.ws.Account.Username, slices.Compact(ids))
	return err
}

func (p *Pages) showPurchases(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	l := purchaseList{ws: ws, query: r.URL.Query()}
	filter, errs := readPurchaseFilter(l.query)
	at := store.PurchasePlace{After: idOf(l.query.Get("after")), Before: idOf(l.query.Get("before"))}
	l.errs = errs
	if l.buyer() != "" {
		l.errs, errs = nil, nil
		if err := p.findBuyer(r, &l); err != nil {
			return err
		}
	} else if errs == nil {
		if err := p.readPurchases(r, &l, filter, at); err != nil {
			return err
		}
	}
	var err error
	if l.items, err = p.itemNames(r, ws); err != nil {
		return err
	}
	page := frame.Page{Title: "Purchases", Crumbs: purchasesCrumbs(ws)[:1], Body: purchasesView(l)}
	if errs != nil {
		page.Status = http.StatusUnprocessableEntity
	}
	if isManager(ws) {
		page.Action = frame.LinkButton{Link: frame.Link{Label: "Record a purchase", Path: purchasesPath(ws, "/new"), Icon: "plus"}, Kind: frame.Primary}
	}
	return p.frame.Show(w, r, page)
}

// idOf is an id of an address, 0 for none.
func idOf(text string) int64 {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 0 {
		return 0
	}
	return id
}

// readPurchaseFilter reads what the list is to be narrowed to.
func readPurchaseFilter(q url.Values) (f store.PurchaseFilter, errs frame.Errors) {
	f = store.PurchaseFilter{Limit: perPage, State: store.State(q.Get("state"))}
	if f.State != "" && stateNames[f.State] == "" {
		errs = append(errs, frame.FieldError{Name: "state", Text: "Choose a state from the list."})
	}
	if text := strings.TrimSpace(q.Get("item")); text != "" {
		if f.Item = idOf(text); f.Item == 0 {
			errs = append(errs, frame.FieldError{Name: "item", Text: wrongItem})
		}
	}
	for _, one := range []struct {
		name string
		into *countersign.Timestamp
		days int
	}{{"from", &f.From, 0}, {"to", &f.Until, 1}} {
		at, err := readDay(q.Get(one.name))
		if err != nil {
			errs = append(errs, frame.FieldError{Name: one.name, Text: dayHelp})
		} else if !at.IsZero() {
			*one.into = countersign.At(at.AddDate(0, 0, one.days))
		}
	}
	return f, errs
}

// filter is what the list is narrowed by.
func (l purchaseList) filter() filter {
	if l.buyer() != "" { // who is searched for among all purchases
		return filterOf(l.query, "buyer")
	}
	return filterOf(l.query, "state", "item", "from", "to")
}

// path is the list from a purchase on, with the same filter.
func (l purchaseList) path(place string, p store.Purchase) string {
	return l.filter().path(purchasesPath(l.ws, ""), place, strconv.FormatInt(p.ID, 10))
}

func (l purchaseList) pager() (p frame.Pager) {
	if len(l.Purchases) == 0 {
		return p
	}
	if l.Newer {
		p.Newer = l.path("before", l.Purchases[0])
	}
	if l.Older {
		p.Older = l.path("after", l.Purchases[len(l.Purchases)-1])
	}
	p.Text = counted(l.Count, "purchase")
	return p
}

func purchaseColumns() []frame.Column {
	return []frame.Column{{Label: "Code"}, {Label: "Item"}, {Label: "Buyer"}, {Label: "Price", Number: true}, {Label: "Sold"}, {Label: "State"}}
}

func (l purchaseList) rows() []frame.Row {
	rows := make([]frame.Row, len(l.Purchases))
	for i, p := range l.Purchases {
		rows[i] = frame.Row{
			frame.Stack(frame.LinkOf(purchasePath(l.ws, p.ID, ""), frame.Amount(shortCode(p.Code))), frame.Muted(strconv.FormatInt(p.ID, 10))),
			frame.Stack(frame.Words(l.names[p.ItemID]), frame.Muted(p.License+" · "+strconv.FormatInt(p.ItemID, 10))),
			frame.Words(cmp.Or(p.BuyerName, p.BuyerEmail, "–")), frame.Amount(paid(p)), frame.Day(p.SoldAt.Time), stateBadge(p.State),
		}
	}
	return rows
}

// shortCode is a code without its middle, as lists show it.
func shortCode(code string) string {
	if len(code) <= 12 {
		return code
	}
	return code[:8] + "…" + code[len(code)-4:]
}

func paid(p store.Purchase) string { return p.Price.In(p.Currency) }
