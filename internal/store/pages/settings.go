package pages

import (
	"net/http"

	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
)

// toSettings leads to the first page of the settings that a role can see.
func (p *Pages) toSettings(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	path := keysPath(ws, "")
	if isOwner(ws) {
		path = workspacePath(ws.Account.Username, generalForm.below)
	}
	return p.frame.Redirect(w, r, path, "")
}
