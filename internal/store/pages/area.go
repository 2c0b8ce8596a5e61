package pages

import (
	"net/http"

	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
)

// workspacePath is the address of a workspace's first page, and of those below it.
func workspacePath(username, below string) string { return PathWorkspaces + "/" + username + below }

// placeHandler answers a request for a page of a workspace, with what the user is there.
type placeHandler func(http.ResponseWriter, *frame.Request, store.WorkspaceRole) error

// inWorkspace serves a page of the workspace that the address names, to its members and to
// administrators. Its actor reaches the things of this workspace alone.
func (p *Pages) inWorkspace(h placeHandler) http.Handler { return p.frame.Admin(p.placed(h)) }

// fileInWorkspace is inWorkspace for a file instead of a page.
func (p *Pages) fileInWorkspace(h placeHandler) http.Handler { return p.frame.AdminFile(p.placed(h)) }

// uploadInWorkspace is inWorkspace for a form with a file of at most so many bytes.
func (p *Pages) uploadInWorkspace(limit int64, h placeHandler) http.Handler {
	return p.frame.AdminUpload(limit, p.placed(h))
}

// asOwner is inWorkspace for its owners alone.
func (p *Pages) asOwner(h placeHandler) http.Handler { return p.inWorkspace(p.ownerAlone(h)) }

func (p *Pages) ownerAlone(h placeHandler) placeHandler {
	return func(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
		if err := p.store.MayOwn(r.Context(), r.Actor, ws.Account.Username); err != nil {
			return err
		}
		return h(w, r, ws)
	}
}

func (p *Pages) placed(h placeHandler) frame.Handler {
	return func(w http.ResponseWriter, r *frame.Request) error {
		ws, err := p.store.Role(r.Context(), r.Actor, r.PathValue("workspace"))
		if err != nil {
			return err
		}
		r.Actor.Workspace = ws.ID
		r.Area = areaOf(ws)
		return h(w, r, ws)
	}
}

// areaOf is the menu of a workspace, without the pages for which a role is too little.
func areaOf(ws store.WorkspaceRole) frame.Area {
	username := ws.Account.Username
	menu := []frame.MenuItem{
		{Label: "Overview", Path: workspacePath(username, ""), Icon: "layout-dashboard"},
		{Label: "Items", Path: itemsPath(ws, ""), Icon: "tag"},
		{Label: "Purchases", Path: purchasesPath(ws, ""), Also: workspacePath(username, "/licenses"), Icon: "credit-card"},
		{Label: "Requests", Path: requestsPath(ws, ""), Icon: "activity"},
		{Label: "Reports", Path: reportsPath(ws, ""), Icon: "chart-column"},
		{Label: "Audit log", Path: workspacePath(username, "/audit"), Icon: "scroll-text"},
	}
	if isManager(ws) {
		menu = append(menu,
			frame.MenuItem{Label: "Import", Path: importsPath(ws, ""), Also: workspacePath(username, "/uploads"), Icon: "upload"},
			frame.MenuItem{Label: "Console", Path: consolePath(ws, ""), Icon: "square-terminal"})
	}
	const settings = "Settings"
	if isOwner(ws) {
		menu = append(menu,
			frame.MenuItem{Label: "General", Path: workspacePath(username, generalForm.below), Icon: "sliders-horizontal", Group: settings},
			frame.MenuItem{Label: "Profile", Path: workspacePath(username, profileForm.below), Icon: "user", Group: settings})
	}
	menu = append(menu, frame.MenuItem{Label: "API access", Path: keysPath(ws, ""), Icon: "key-round", Group: settings})
	if isOwner(ws) {
		menu = append(menu, frame.MenuItem{Label: "Members", Path: membersPath(ws, ""), Icon: "users", Group: settings})
	}
	return frame.Area{
		Link:   frame.Link{Label: username, Path: workspacePath(username, "")},
		Switch: frame.Link{Label: "Switch workspace", Path: PathWorkspaces},
		Menu:   menu,
	}
}

// isOwner reports whether the reader may change keys, members and settings. It decides what
// is offered; the services decide what is done.
func isOwner(ws store.WorkspaceRole) bool { return ws.Role == store.RoleOwner }

// isManager is isOwner for items, purchases and licenses.
func isManager(ws store.WorkspaceRole) bool { return isOwner(ws) || ws.Role == store.RoleManager }

func workspaceCrumb(ws store.WorkspaceRole) frame.Link {
	return frame.Link{Label: ws.Account.Username, Path: workspacePath(ws.Account.Username, "")}
}

// menu is the side menu of the store as a whole.
func menu() []frame.MenuItem {
	return []frame.MenuItem{
		{Label: "Workspaces", Path: PathWorkspaces, Icon: "package", Group: "Store"},
		{Label: "Users", Path: pathUsers, Icon: "users", Group: "Store", Administrators: true},
		{Label: "Health", Path: pathHealth, Icon: "heart-pulse", Group: "Store", Administrators: true},
		{Label: "Store audit log", Path: pathAudit, Icon: "scroll-text", Group: "Store", Administrators: true},
	}
}
