package pages

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/a-h/templ"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/requests"
)

// itemAnswerLabel says which answer of the API is shown.
const itemAnswerLabel = "GET /api/items/item"

// itemHandler answers a request for a page about an item of the workspace.
type itemHandler func(http.ResponseWriter, *frame.Request, store.WorkspaceRole, store.Item) error

// onItem serves what the address names: an item of the workspace.
func (p *Pages) onItem(h itemHandler) http.Handler { return p.inWorkspace(p.withItem(h)) }

// onOwnItem is onItem for those who may change it.
func (p *Pages) onOwnItem(h itemHandler) http.Handler { return p.inWorkspace(p.withOwnItem(h)) }

func (p *Pages) withItem(h itemHandler) placeHandler {
	return func(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
		id := idOf(r.PathValue("item"))
		if id == 0 {
			return p.frame.NotFound(w, r)
		}
		i, err := p.store.ShowItem(r.Context(), r.Actor, id)
		if err != nil {
			return err
		}
		return h(w, r, ws, i)
	}
}

func (p *Pages) withOwnItem(h itemHandler) placeHandler {
	return p.withItem(func(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole, i store.Item) error {
		if err := p.store.MayManage(r.Context(), r.Actor, ws.Account.Username); err != nil {
			return err
		}
		return h(w, r, ws, i)
	})
}

func itemCrumbs(ws store.WorkspaceRole, i store.Item) []frame.Link {
	return append(itemsCrumbs(ws), frame.Link{Label: i.Name, Path: itemPath(ws, i.ID, "")})
}

// oneItem is what the page of an item shows.
type oneItem struct {
	ws store.WorkspaceRole
	store.Item
	// answer is what the API answers for it.
	answer   string
	figures  frame.Figures
	versions []store.ItemVersion
	history  frame.History
}

func (p *Pages) showItem(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole, i store.Item) error {
	one := oneItem{ws: ws, Item: i}
	for _, read := range []func(*frame.Request, *oneItem) error{p.readItemAnswer, p.readItemFigures, p.readItemHistory} {
		if err := read(r, &one); err != nil {
			return err
		}
	}
	page := frame.Page{Title: "Item " + strconv.FormatInt(i.ID, 10), Heading: i.Name, Crumbs: itemsCrumbs(ws), Body: itemView(one)}
	if isManager(ws) {
		page.Action = frame.LinkButton{Link: frame.Link{Label: "Edit", Path: itemPath(ws, i.ID, "/edit")}, Kind: frame.Primary}
	}
	return p.frame.Show(w, r, page)
}

func (p *Pages) readItemAnswer(r *frame.Request, one *oneItem) (err error) {
	one.answer, err = p.itemAnswer(r, one.Item)
	return err
}

// readItemHistory reads the versions, and what the audit log has about the item.
func (p *Pages) readItemHistory(r *frame.Request, one *oneItem) (err error) {
	if one.versions, err = p.store.ItemVersions(r.Context(), r.Actor, one.ID); err == nil {
		one.history, err = p.workspaceLog(one.ws).History(r, "item", strconv.FormatInt(one.ID, 10))
	}
	return err
}

// readItemFigures counts sales and calls. The page stays when the log of calls is gone.
func (p *Pages) readItemFigures(r *frame.Request, one *oneItem) error {
	today := dayOf(p.frame.Now())
	from, tomorrow := today.AddDate(0, 0, 1-overviewDays), today.AddDate(0, 0, 1)
	sold := func(f store.PurchaseFilter) (int64, error) {
		f.Item, f.Limit = one.ID, 1
		page, err := p.store.ListPurchases(r.Context(), r.Actor, one.ws.Account.Username, f, store.PurchasePlace{})
		return page.Count, err
	}
	all, err := sold(store.PurchaseFilter{})
	if err != nil {
		return err
	}
	last, err := sold(store.PurchaseFilter{From: countersign.At(from), Until: countersign.At(tomorrow)})
	if err != nil {
		return err
	}
	calls, err := p.store.Requests.Counts(r.Context(), r.Actor, requests.CountQuery{Workspace: one.ws.ID, From: from, To: tomorrow, By: requests.ByResult, Item: one.ID})
	gone := p.logGone(r, err)
	if err != nil && !gone {
		return err
	}
	query := "?item=" + strconv.FormatInt(one.ID, 10)
	one.figures = frame.Figures{
		{Label: "Sales", Value: upTo(all, store.MaxCount), Note: "Purchases of all time.", Link: frame.Link{Label: "Show its purchases", Path: purchasesPath(one.ws, query)}},
		{Label: "Sales in 30 days", Value: upTo(last, store.MaxCount), Note: "Today included.", Link: frame.Link{Label: "Purchases of these days", Path: purchasesPath(one.ws, query+"&from="+from.Format(time.DateOnly)+"&to="+today.Format(time.DateOnly))}},
		callsOfItem(one, calls, gone || !p.store.Requests.On(), query),
	}
	return nil
}

// historyLead says how much of the audit log a page has.
func historyLead(h frame.History) string {
	if len(h.Lines) < frame.HistoryLimit {
		return "What the audit log has about it."
	}
	return fmt.Sprintf("The newest %d entries of the audit log about it.", frame.HistoryLimit)
}

// callsOfItem is the figure of calls about an item.
func callsOfItem(one *oneItem, calls []requests.Count, missing bool, query string) frame.Figure {
	f := frame.Figure{Label: "Calls in 30 days", Value: "–", Note: "Calls are not logged, or the log can't be read at present."}
	if missing {
		return f
	}
	var valid, failed int64
	for _, c := range calls {
		valid, failed = valid+c.Valid, failed+c.Failed
	}
	f.Value, f.Note = frame.Thousands(valid)+" valid", frame.Thousands(failed)+" failed. Validations and other calls about this item."
	f.Link = frame.Link{Label: "Show its calls", Path: requestsPath(one.ws, query)}
	return f
}

func (one oneItem) versionRows() []frame.Row {
	rows := make([]frame.Row, len(one.versions))
	for n, v := range one.versions {
		by := frame.Muted("Not known")
		if v.Actor != "" {
			by = frame.Words(v.Actor)
		}
		rows[n] = frame.Row{frame.Words(cmp.Or(string(v.Version), "None")), frame.Time(v.At.Time), by, descriptionOf(v.Notes)}
	}
	return rows
}

// mediaFact is an address, and whether the kind of the item has it.
func mediaFact(address *string, has bool) templ.Component {
	switch {
	case address == nil || *address == "":
		if has {
			return frame.Muted("–")
		}
		return frame.Muted("Not for this kind")
	case has:
		return frame.Link{Label: *address, Path: *address}
	}
	return frame.Stack(frame.Link{Label: *address, Path: *address}, frame.Muted("Saved, but not printed for this kind"))
}

// address is a link to a whole URL, a dash for none.
func address(text string) templ.Component {
	return mediaFact(&text, true)
}

// addresses are links under each other, a dash for none.
func addresses(all []string) templ.Component {
	if len(all) == 0 {
		return frame.Muted("–")
	}
	links := make([]templ.Component, len(all))
	for i, one := range all {
		links[i] = frame.Link{Label: one, Path: one}
	}
	return frame.Stack(links...)
}
