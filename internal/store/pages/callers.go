package pages

import (
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/requests"
	"github.com/countersign/countersign/internal/wording"
)

// callers is who has used a key in the last day.
type callers struct {
	calls     int
	more      bool // there may be more calls than are counted
	unknown   bool // the log can't be read
	addresses []string
}

// maxCallers is how many addresses are named.
const maxCallers = 5

// callersOf finds who has used a key in the last day. Keys can be changed without the log, too.
func (p *Pages) callersOf(r *frame.Request, k store.Key) (callers, error) {
	page, err := p.store.Requests.Calls(r.Context(), r.Actor, requests.Filter{Workspace: k.WorkspaceID, Key: k.ID, From: p.frame.Now().Add(-24 * time.Hour), Limit: 1000})
	if p.logGone(r, err) {
		return callers{unknown: true}, nil
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
	switch {
	case c.unknown:
		return "The log of calls can't be read at present."
	case c.calls == 0 && c.more: // a search that finds little stops after a while
		return "The search for calls in the last 24 hours stopped early and found none."
	case c.calls == 0:
		return "No call in the last 24 hours is logged."
	}
	text := "In the last 24 hours: "
	if c.more {
		text += "more than "
	}
	text += frame.Count(c.calls, "call") + " from "
	if n := len(c.addresses); n > maxCallers {
		return text + strings.Join(c.addresses[:maxCallers], ", ") + " and " + wording.Count(int64(n-maxCallers), "more address", "more addresses") + "."
	}
	return text + strings.Join(c.addresses, ", ") + "."
}
