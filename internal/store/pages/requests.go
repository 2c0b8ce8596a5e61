package pages

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/requestid"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/requests"
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
	newer requestid.Number // 0 on the newest page
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

// path is the list from a call on, with the same filter.
func (l *requestList) path(place string, number requestid.Number) string {
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

func (l *requestList) empty() frame.Empty {
	switch {
	case l.Next != 0:
		return frame.Empty{Icon: "search", Title: "No matching calls so far", Text: "The search stopped after a while.", Action: frame.Link{Label: "Search older calls", Path: l.path("before", l.Next)}}
	case l.narrowedBy().narrowed() || l.live:
		return frame.Empty{Icon: "search", Title: "No matching calls", Action: frame.Link{Label: "Show everything", Path: requestsPath(l.ws, "")}}
	}
	return frame.Empty{Icon: "activity", Title: "No calls yet", Text: "Calls appear here a second after a program made them.", Action: frame.Link{Label: "API access", Path: keysPath(l.ws, "")}}
}
