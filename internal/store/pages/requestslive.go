package pages

import (
	"net/http"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/requestid"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/requests"
)

// times are links to the calls of a time up to now, and to those that come in.
func (l *requestList) times() (links []frame.Link) {
	narrowed := l.narrowedBy().with("to", "")
	for _, t := range []struct {
		label string
		back  time.Duration
	}{{"Last hour", time.Hour}, {"Last 24 hours", 24 * time.Hour}, {"Last 7 days", 7 * 24 * time.Hour}} {
		from := l.now.UTC().Add(-t.back).Format(minuteLayout)
		links = append(links, frame.Link{Label: t.label, Path: narrowed.with("from", from).address(requestsPath(l.ws, ""))})
	}
	return append(links, frame.Link{Label: "Follow live", Path: narrowed.with("from", "").with("live", "1").address(requestsPath(l.ws, ""))})
}

// stream is the address of the calls that come in after those of the page.
func (l *requestList) stream() string {
	last := requestid.First(l.now)
	if len(l.Calls) > 0 {
		last = l.Calls[0].ID
	}
	return l.narrowedBy().with("last", last.String()).address(requestsPath(l.ws, "/live"))
}

// streamRequests sends the calls that come in, as rows of the list.
func (p *Pages) streamRequests(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	l := &requestList{ws: ws, query: r.URL.Query()}
	filter := l.filter()
	if l.errs != nil {
		return fault.Invalid("request_filter", l.errs[0].Text)
	}
	var err error
	if l.keys, err = p.keyNames(r, ws); err != nil {
		return err
	}
	last, ok := requestid.Parse(r.Header.Get("Last-Event-ID"))
	if !ok {
		last, _ = requestid.Parse(l.query.Get("last"))
	}
	tail := p.store.Requests.Watch(filter, last)
	return p.frame.Stream(w, r, func(a people.Actor) ([]frame.Event, error) {
		calls, more, err := tail.Next(r.Context(), a, requests.Watched)
		if err != nil || len(calls) == 0 {
			return nil, err
		}
		l.Page = requests.Page{Calls: calls}
		events := []frame.Event{{ID: calls[0].ID.String(), Data: frame.Table{Columns: requestColumns(), Rows: l.rows()}.Body()}}
		if more {
			events = append(events, frame.Event{Name: "more"})
		}
		return events, nil
	})
}
