package pages

import (
	"net/http"

	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
)

func (p *Pages) showOverview(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	return p.frame.Show(w, r, frame.Page{Title: ws.Account.Username, Lead: ws.Account.Name.FullName, Body: overviewView(ws)})
}
