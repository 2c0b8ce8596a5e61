package pages

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/requests"
	"github.com/countersign/countersign/internal/web"
)

func requestsPath(ws store.WorkspaceRole, below string) string {
	return workspacePath(ws.Account.Username, "/requests"+below)
}

func requestsCrumbs(ws store.WorkspaceRole) []frame.Link {
	return []frame.Link{workspaceCrumb(ws), {Label: "Requests", Path: requestsPath(ws, "")}}
}

// requestList is what the page of the list shows.
type requestList struct {
	ws    store.WorkspaceRole
	query url.Values // the filter, as the address has it
	requests.Page
	state requests.State
	newer web.RequestNumber // 0 on the newest page
	keys  map[int64]string
	codes []string  // the error codes that the list can be narrowed to
	items itemNames // to narrow the list to one
	errs  frame.Errors
	now   time.Time
	live  bool // new calls are added as they come in
}

func (p *Pages) showRequests(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	l := &requestList{ws: ws, query: r.URL.Query(), now: p.frame.Now()}
	if id := strings.TrimSpace(l.query.Get("id")); id != "" {
		switch _, err := p.store.Requests.Call(r.Context(), r.Actor, ws.ID, id); {
		case err == nil:
			return p.frame.Redirect(w, r, requestsPath(ws, "/"+url.PathEscape(id)), "")
		case !fault.HasKind(err, countersign.KindNotFound):
			return err
		}
		l.errs = append(l.errs, frame.FieldError{Name: "id", Text: "No call of this workspace has this id. Calls are kept for a limited time."})
	}
	filter := l.filter()
	l.live = l.query.Has("live") && l.errs == nil
	var err error
	if l.errs == nil {
		if l.Page, err = p.store.Requests.Calls(r.Context(), r.Actor, filter); err != nil {
			return err
		}
	}
	l.place(filter)
	if l.state, err = p.store.Requests.State(r.Context(), r.Actor, ws.ID); err != nil {
		return err
	}
	if l.keys, err = p.keyNames(r, ws); err != nil {
		return err
	}
	if l.items, err = p.itemNames(r, ws); err != nil {
		return err
	}
	if l.codes, err = p.errorCodes(r, ws, l.query.Get("reason")); err != nil {
		return err
	}
	page := frame.Page{
		Title: "Requests", Crumbs: requestsCrumbs(ws)[:1], Body: requestsView(l), Live: l.live,
		Lead: "Calls of the API with a key of this workspace, and license requests of programs. Licenses created on pages are in the purchase's timeline.",
	}
	if l.errs != nil {
		page.Status = http.StatusUnprocessableEntity
	}
	return p.frame.Show(w, r, page)
}

// filter is what the list is narrowed to.
func (l *requestList) filter() requests.Filter {
	q := l.query
	f := requests.Filter{
		Workspace: l.ws.ID, Endpoint: wholeEndpoint(q.Get("endpoint")), Reason: strings.TrimSpace(q.Get("reason")), Address: strings.TrimSpace(q.Get("address")),
		Key: idOf(q.Get("key")), Item: idOf(strings.TrimSpace(q.Get("item"))), Purchase: idOf(q.Get("purchase")), Limit: perPage,
	}
	if f.Item == 0 && strings.TrimSpace(q.Get("item")) != "" {
		l.errs = append(l.errs, frame.FieldError{Name: "item", Text: wrongItem})
	}
	if result := requests.Result(q.Get("result")); result == requests.Valid || result == requests.Failed {
		f.Result = result
	}
	for _, one := range []struct {
		name string
		into *time.Time
	}{{"from", &f.From}, {"to", &f.To}} {
		at, err := readMinute(q.Get(one.name))
		if err != nil {
			l.errs = append(l.errs, frame.FieldError{Name: one.name, Text: minuteHelp})
		}
		*one.into = at
	}
	f.Before, _ = web.ParseRequestNumber(q.Get("before"))
	f.After, _ = web.ParseRequestNumber(q.Get("after"))
	return f
}

// place turns a page of newer calls, which comes oldest first, and finds what is on its sides.
func (l *requestList) place(f requests.Filter) {
	switch {
	case f.After != 0:
		slices.Reverse(l.Calls)
		l.newer, l.Next = l.Next, f.After+1
		if n := len(l.Calls); n > 0 {
			l.Next = l.Calls[n-1].ID
		}
	case f.Before != 0 && len(l.Calls) > 0:
		l.newer = l.Calls[0].ID
	case f.Before != 0:
		l.newer = f.Before - 1
	}
}

// narrowedBy is the filter for the links of the list.
func (l *requestList) narrowedBy() filter {
	return filterOf(l.query, "endpoint", "result", "reason", "key", "item", "purchase", "address", "from", "to")
}

// path is the list from a call on, with the same filter.
func (l *requestList) path(place string, number web.RequestNumber) string {
	return l.narrowedBy().path(requestsPath(l.ws, ""), place, number.String())
}

func (l *requestList) pager() (p frame.Pager) {
	if l.newer != 0 {
		p.Newer = l.path("after", l.newer)
	}
	if l.Next != 0 {
		p.Older = l.path("before", l.Next)
	}
	return p
}

func (l *requestList) rows() []frame.Row {
	rows := make([]frame.Row, len(l.Calls))
	for i, c := range l.Calls {
		rows[i] = frame.Row{
			l.head(c), frame.Mono(strings.TrimPrefix(c.Endpoint, apiPrefix)), frame.Words(l.key(c)),
			callResult(c), frame.Amount(milliseconds(c.Took)), frame.Amount(c.Address), frame.Muted(c.ID.String()),
		}
	}
	return rows
}

func requestColumns() []frame.Column {
	return []frame.Column{{Label: "Time"}, {Label: "Endpoint"}, {Label: "Key"}, {Label: "Result"}, {Label: "Took", Number: true}, {Label: "Address"}, {Label: "Request id"}}
}

// head is the first cell of a call: its time, which leads to it.
func (l *requestList) head(c requests.Call) templ.Component {
	return frame.LinkOf(requestsPath(l.ws, "/"+c.ID.String()), frame.Time(c.Time()))
}

// apiPrefix is what the list leaves out of endpoints.
const apiPrefix = "/api/"

// wholeEndpoint is an endpoint that may be typed as the list shows it.
func wholeEndpoint(text string) string {
	text = strings.TrimSpace(text)
	if text == "" || strings.HasPrefix(text, "/") {
		return text
	}
	return apiPrefix + text
}

// key is the name of the key that a call was made with.
func (l *requestList) key(c requests.Call) string {
	if name := l.keys[c.Key]; name != "" {
		return name
	}
	return "–"
}

// callResult is how a call ended, and why.
func callResult(c requests.Call) frame.Badge {
	if c.Result() == requests.Valid {
		return frame.Badge{Text: "Valid", Kind: frame.Good}
	}
	return frame.Badge{Text: c.Reason, Kind: frame.Warning}
}

func milliseconds(d time.Duration) string {
	return strconv.FormatFloat(float64(d.Microseconds())/1000, 'f', 1, 64) + " ms"
}

// keyNames are the names of the workspace's keys by their ids.
func (p *Pages) keyNames(r *frame.Request, ws store.WorkspaceRole) (map[int64]string, error) {
	keys, err := p.store.Keys(r.Context(), r.Actor, ws.Account.Username)
	names := make(map[int64]string, len(keys))
	for _, k := range keys {
		names[k.ID] = k.Name
	}
	return names, err
}

// codeDays is of how many days error codes are offered.
const codeDays = 30

// errorCodes are those that calls of the last days failed with, and the one that is chosen.
func (p *Pages) errorCodes(r *frame.Request, ws store.WorkspaceRole, chosen string) ([]string, error) {
	tomorrow := dayOf(p.frame.Now()).AddDate(0, 0, 1) // whole days are few numbers
	counts, err := p.store.Requests.Counts(r.Context(), r.Actor, requests.CountQuery{
		Workspace: ws.ID, From: tomorrow.AddDate(0, 0, -codeDays), To: tomorrow, By: requests.ByResult,
	})
	if err != nil && !p.logGone(r, err) {
		return nil, err
	}
	codes := []string{strings.TrimSpace(chosen)}
	for _, c := range counts {
		codes = append(codes, c.Reason)
	}
	slices.Sort(codes)
	return slices.DeleteFunc(slices.Compact(codes), func(code string) bool { return code == "" }), nil
}

// codeField is the field of the error code.
func (l *requestList) codeField() frame.Field {
	all := []frame.Choice{{Label: "All"}}
	for _, code := range l.codes {
		all = append(all, frame.Choice{Value: code, Label: code})
	}
	return frame.Field{Name: "reason", Label: "Error code", Kind: frame.Select, Value: strings.TrimSpace(l.query.Get("reason")), Choices: all, Help: "Codes of the last 30 days."}
}

// oneRequest is what the page of one call shows.
type oneRequest struct {
	ws store.WorkspaceRole
	requests.Call
	key  string
	item string // the name of its item, "" for none
}

func (p *Pages) showRequest(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	c, err := p.store.Requests.Call(r.Context(), r.Actor, ws.ID, r.PathValue("request"))
	if err != nil {
		return err
	}
	names, err := p.keyNames(r, ws)
	if err != nil {
		return err
	}
	items, err := p.store.ItemNames(r.Context(), r.Actor, ws.Account.Username, []int64{c.Item})
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, frame.Page{
		Title: "Request " + c.ID.String(), Crumbs: requestsCrumbs(ws), Body: requestView(oneRequest{ws, c, names[c.Key], items[c.Item]}),
	})
}

// callers is who has used a key in the last day.
type callers struct {
	calls     int
	more      bool // there were more calls than are counted
	addresses []string
}

// maxCallers is how many addresses are named.
const maxCallers = 5

// callersOf finds who has used a key in the last day. Without a log nobody is known.
func (p *Pages) callersOf(r *frame.Request, k store.Key) (callers, error) {
	page, err := p.store.Requests.Calls(r.Context(), r.Actor, requests.Filter{Workspace: k.WorkspaceID, Key: k.ID, From: p.frame.Now().Add(-24 * time.Hour), Limit: 1000})
	if fault.IsUnavailable(err) { // the log can be gone; keys are not
		return callers{}, nil
	}
	c := callers{calls: len(page.Calls), more: page.Next != 0}
	for _, call := range page.Calls {
		if !slices.Contains(c.addresses, call.Address) {
			c.addresses = append(c.addresses, call.Address)
		}
	}
	return c, err
}

// String says who has used the key.
func (c callers) String() string {
	if c.calls == 0 {
		return "No call in the last 24 hours is logged."
	}
	text := "In the last 24 hours: "
	if c.more {
		text += "more than "
	}
	text += frame.Count(c.calls, "call") + " from "
	if n := len(c.addresses); n > maxCallers {
		return text + strings.Join(c.addresses[:maxCallers], ", ") + " and " + strconv.Itoa(n-maxCallers) + " more addresses."
	}
	return text + strings.Join(c.addresses, ", ") + "."
}

func (l *requestList) keyChoices() []frame.Choice {
	all := []frame.Choice{{Label: "All"}}
	for _, id := range slices.Sorted(maps.Keys(l.keys)) {
		all = append(all, frame.Choice{Value: strconv.FormatInt(id, 10), Label: l.keys[id]})
	}
	return all
}

func (l *requestList) empty() frame.Empty {
	switch {
	case l.Next != 0:
		return frame.Empty{Icon: "search", Title: "No matching calls so far", Text: "The search stopped after a while.", Action: frame.Link{Label: "Search older calls", Path: l.path("before", l.Next)}}
	case l.narrowedBy().narrowed() || l.live:
		return frame.Empty{Icon: "search", Title: "No matching calls", Action: frame.Link{Label: "Show everything", Path: requestsPath(l.ws, "")}}
	}
	return frame.Empty{Icon: "activity", Title: "No calls yet", Text: "Calls appear here a second after a program made them.", Action: frame.Link{Label: "API access", Path: keysPath(l.ws, "")}}
}

func sentRows(sent []requests.Param) []frame.Row {
	rows := make([]frame.Row, len(sent))
	for i, s := range sent {
		rows[i] = frame.Row{frame.Mono(s.Name), frame.Words(s.Place.String()), frame.Mono(s.Value)}
	}
	return rows
}

// requestItem leads to the item of a call, where the workspace has it.
func requestItem(one oneRequest) templ.Component {
	id := frame.Muted(strconv.FormatInt(one.Item, 10))
	switch {
	case one.Item == 0:
		return frame.Muted("–")
	case one.item == "":
		return id
	}
	return frame.Group(frame.Link{Label: one.item, Path: itemPath(one.ws, one.Item, "")}, id)
}
