package pages

import (
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
)

// maxChoices is up to how many items a field lists to choose from, and maxSuggested how many it suggests for typing.
const (
	maxChoices   = 100
	maxSuggested = 1000
)

// wrongItem is what is wrong with a filter that is not an item's id.
const wrongItem = "Choose an item from the list, or type its id, a whole number."

// itemNames are the items that a field offers, by name.
type itemNames []store.ItemName

// itemNames reads the items of a workspace.
func (p *Pages) itemNames(r *frame.Request, ws store.WorkspaceRole) (itemNames, error) {
	return p.store.ListItemNames(r.Context(), r.Actor, ws.Account.Username, maxSuggested)
}

// field completes a field that takes an item's id. The first choice of a list selects no item.
func (all itemNames) field(f frame.Field, none string) frame.Field {
	for _, i := range all {
		id := strconv.FormatInt(i.ID, 10)
		f.Choices = append(f.Choices, frame.Choice{Value: id, Label: i.Name + " (" + id + ")"})
	}
	if len(all) > maxChoices {
		f.Help = strings.TrimSpace(f.Help + " Type the name or the id, and choose from the list.")
		return f
	}
	if f.Value != "" && !slices.ContainsFunc(f.Choices, func(c frame.Choice) bool { return c.Value == f.Value }) {
		f.Choices = append(f.Choices, frame.Choice{Value: f.Value, Label: f.Value})
	}
	f.Kind, f.Choices = frame.Select, append([]frame.Choice{{Label: none}}, f.Choices...)
	return f
}
