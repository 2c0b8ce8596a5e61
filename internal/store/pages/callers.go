package pages

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/requests"
)

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
