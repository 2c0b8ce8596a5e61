package pages

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/requestid"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/requests"
)

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
	f.Before, _ = requestid.Parse(q.Get("before"))
	f.After, _ = requestid.Parse(q.Get("after"))
	return f
}

// place reverses a page of newer calls, which is read oldest first, and finds the pages before and after it.
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

// keyNames are the names of the workspace's keys by their ids.
func (p *Pages) keyNames(r *frame.Request, ws store.WorkspaceRole) (map[int64]string, error) {
	keys, err := p.store.Keys(r.Context(), r.Actor, ws.Account.Username)
	names := make(map[int64]string, len(keys))
	for _, k := range keys {
		names[k.ID] = k.Name
	}
	return names, err
}

// codeDays is how many days back an error code must have occurred to be offered.
const codeDays = 30

// errorCodes are those that calls of the last days failed with, and the one that is chosen.
func (p *Pages) errorCodes(r *frame.Request, ws store.WorkspaceRole, chosen string) ([]string, error) {
	tomorrow := dayOf(p.frame.Now()).AddDate(0, 0, 1) // whole days have few counts
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

func (l *requestList) keyChoices() []frame.Choice {
	all := []frame.Choice{{Label: "All"}}
	for _, id := range slices.Sorted(maps.Keys(l.keys)) {
		all = append(all, frame.Choice{Value: strconv.FormatInt(id, 10), Label: l.keys[id]})
	}
	return all
}
