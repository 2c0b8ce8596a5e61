package pages

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
)

// itemsChanged is what the page after a change of several items shows.
type itemsChanged struct {
	ws store.WorkspaceRole
	store.ItemsChanged
	back string
}

// changeItems changes the items that were chosen in the list. The address has the list's filter.
func (p *Pages) changeItems(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	if err := p.store.MayManage(r.Context(), r.Actor, ws.Account.Username); err != nil {
		return err
	}
	l := itemList{ws: ws, query: r.URL.Query()}
	return p.frame.Submit(w, r, frame.Form{
		Do: func(in url.Values) error {
			changed, err := p.changeChosen(r, ws, in)
			if err != nil {
				return err
			}
			return p.showChanged(w, r, itemsChanged{ws, changed, l.here("", "after", "before")})
		},
		Again: func(in url.Values, wrong frame.Errors) (frame.Page, error) {
			l.errs, l.category, l.all, l.ticked = wrong, in.Get("new_category"), in.Get("all") != "", map[int64]bool{}
			for _, id := range chosenIDs(in) {
				l.ticked[id] = true
			}
			return p.itemsPage(r, l)
		},
	})
}

func (p *Pages) changeChosen(r *frame.Request, ws store.WorkspaceRole, in url.Values) (store.ItemsChanged, error) {
	if in.Get("do") == "publish" {
		return p.store.PublishItems(r.Context(), r.Actor, ws.Account.Username, chosenIDs(in))
	}
	return p.store.SetItemsCategory(r.Context(), r.Actor, ws.Account.Username, chosenIDs(in), typedText(in, "new_category"))
}

// chosenIDs are the ids of the items that were ticked, with all of a page where that was.
func chosenIDs(in url.Values) []int64 {
	ids := []int64{}
	for _, text := range append(strings.Fields(in.Get("all")), in["item"]...) {
		if id := idOf(text); id != 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// showChanged leads back to the list when everything was done, and says what was not otherwise.
func (p *Pages) showChanged(w http.ResponseWriter, r *frame.Request, c itemsChanged) error {
	if len(c.Failed) == 0 {
		return p.frame.Redirect(w, r, c.back, c.summary())
	}
	return p.frame.Show(w, r, frame.Page{Title: "Change of several items", Crumbs: itemsCrumbs(c.ws), Body: itemsChangedView(c)})
}

func (c itemsChanged) kind() frame.Kind {
	if c.Done == 0 {
		return frame.Danger
	}
	return frame.Warning
}

func (c itemsChanged) summary() string {
	if len(c.Failed) == 0 {
		return frame.Count(c.Done, "item") + " changed."
	}
	return fmt.Sprintf("%d done, %d not", c.Done, len(c.Failed))
}

func (c itemsChanged) text() string {
	if c.Done == 0 {
		return "No item was changed."
	}
	return frame.Count(c.Done, "item") + " changed. The others stay as they were."
}

func (c itemsChanged) rows() []frame.Row {
	rows := make([]frame.Row, len(c.Failed))
	for n, f := range c.Failed {
		rows[n] = frame.Row{frame.Words(strconv.FormatInt(f.ID, 10)), frame.Words(f.Name), frame.Words(frame.Sentence(f.Reason))}
		if f.Name != "" {
			rows[n][0] = frame.Link{Label: strconv.FormatInt(f.ID, 10), Path: itemPath(c.ws, f.ID, "")}
		}
	}
	return rows
}
