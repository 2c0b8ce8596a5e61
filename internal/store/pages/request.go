package pages

import (
	"net/http"
	"strconv"

	"github.com/a-h/templ"

	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/requests"
)

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
