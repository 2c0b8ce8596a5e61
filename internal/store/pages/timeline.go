package pages

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/internal/store/requests"
	"github.com/countersign/countersign/internal/store/validation"
)

// event is one line of the timeline of a purchase.
type event struct {
	at time.Time
	// from is when the first of several events was that are one line, zero for a single one.
	from   time.Time
	text   string
	detail string
	// calls is how many calls the line sums up, 0 for a line that is not of calls. All ended as kind says.
	calls int
	kind  requests.Result
}

// validationEndpoint is where codes are validated.
const validationEndpoint = "/api/purchases/validation"

// maxTimelineCalls is how many of the newest validations a timeline knows.
const maxTimelineCalls = 1000

// timeline is what happened to a purchase, the newest first.
type timeline struct {
	events []event
	// note says what the timeline lacks, "" for nothing.
	note string
	// endedBy is who ended the purchase last, "" when nobody is known.
	endedBy string
}

// readTimeline reads what happened to a purchase and its licenses. The page stays when the log of calls is gone.
func (p *Pages) readTimeline(r *frame.Request, ws store.WorkspaceRole, c validation.Check, licenses []licensing.License) (t timeline, err error) {
	history, err := p.workspaceLog(ws).History(r, "purchase", strconv.FormatInt(c.Purchase.ID, 10))
	if err != nil {
		return t, err
	}
	if i := slices.IndexFunc(history.Lines, func(l people.AuditLine) bool { return endActs[l.Action] }); i >= 0 {
		t.endedBy = frame.Who(history.Lines[i].Kind, history.Lines[i].Actor)
	}
	calls, err := p.store.Requests.Calls(r.Context(), r.Actor, requests.Filter{
		Workspace: ws.ID, Item: c.Purchase.ItemID, Purchase: c.Purchase.ID, Endpoint: validationEndpoint, Limit: maxTimelineCalls,
	})
	switch gone := p.logGone(r, err); {
	case gone:
		t.note = "The log of calls can't be read at present, so validations are missing."
	case err != nil:
		return t, err
	case !p.store.Requests.On():
		t.note = "Calls are not logged, so validations are missing."
	case calls.Next != 0:
		t.note = "Only the newest validations are shown."
	}
	t.events = slices.Concat(eventsOf(c.Purchase, licenses, history.Lines), actsOn(history.Lines), callsOf(calls))
	slices.SortStableFunc(t.events, func(a, b event) int { return b.at.Compare(a.at) })
	t.events = collapsed(t.events)
	return t, nil
}

// eventsOf is what the purchase and its licenses say themselves.
func eventsOf(p store.Purchase, licenses []licensing.License, acts []people.AuditLine) []event {
	all := []event{{at: p.SoldAt.Time, text: "Sold"}}
	if p.State != store.StateActive && !p.StateAt.IsZero() && !slices.ContainsFunc(acts, func(l people.AuditLine) bool { return endActs[l.Action] }) {
		all = append(all, event{at: p.StateAt.Time, text: stateNames[p.State]})
	}
	for _, l := range licenses {
		domain := licensing.DomainOf(l.License).String()
		all = append(all, event{at: l.IssuedAt.Time, text: "License for " + domain + " issued"})
		if l.Ended != "" {
			all = append(all, event{at: l.EndedAt.Time, text: "License for " + domain + " ended: " + licenseEnds[l.Ended]})
		}
	}
	return all
}

// endActs are the acts after which a purchase is not active.
var endActs = map[people.Action]bool{"purchase.refund": true, "purchase.charge_back": true, "purchase.revoke": true}

// actsOn is what people did with the purchase.
func actsOn(lines []people.AuditLine) (all []event) {
	for _, l := range lines {
		all = append(all, event{at: l.At, text: acts[l.Action] + " by " + frame.Who(l.Kind, l.Actor), detail: l.After})
	}
	return all
}

// callsOf are the logged validations. The first one ever is named where the page reaches back to it.
func callsOf(page requests.Page) (all []event) {
	for n, c := range page.Calls {
		e := event{at: c.Time(), calls: 1, kind: c.Result(), detail: c.Reason}
		first := n == len(page.Calls)-1 && page.Next == 0
		if first {
			e.calls = 0 // it keeps a line of its own
		}
		switch failed := c.Result() == requests.Failed; {
		case first && failed:
			e.text = "First logged validation, which failed, from " + c.Address
		case first:
			e.text = "First logged validation from " + c.Address
		case failed:
			e.text = "Failed validation from " + c.Address
		default:
			e.text = "Validation from " + c.Address
		}
		all = append(all, e)
	}
	return all
}

// collapsed makes one line of validations that ended alike with nothing in between.
func collapsed(all []event) (lines []event) {
	for _, e := range all {
		n := len(lines) - 1
		if n < 0 || e.calls == 0 || lines[n].calls == 0 || lines[n].kind != e.kind {
			lines = append(lines, e)
			continue
		}
		last := &lines[n]
		last.calls, last.from = last.calls+1, e.at
		last.text, last.detail = fmt.Sprintf("%s validations", frame.Thousands(int64(last.calls))), ""
		if e.kind == requests.Failed {
			last.text = fmt.Sprintf("%s failed validations", frame.Thousands(int64(last.calls)))
		}
	}
	return lines
}
