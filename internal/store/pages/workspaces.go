package pages

import (
	"log/slog"
	"net/http"
	"net/url"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
)

var workspacesCrumb = frame.Link{Label: "Workspaces", Path: PathWorkspaces}

// showWorkspaces lists the workspaces of the user. Somebody who has one and may create no
// others is led there.
func (p *Pages) showWorkspaces(w http.ResponseWriter, r *frame.Request) error {
	all, err := p.store.OwnWorkspaces(r.Context(), r.Actor)
	if err != nil {
		return err
	}
	if len(all) == 1 && !r.User.Administrator {
		return p.frame.Redirect(w, r, workspacePath(all[0].Account.Username, ""), "")
	}
	page := frame.Page{Title: "Workspaces", Lead: "A workspace is an author's account: its items, purchases and API keys.", Body: workspacesView(r.User.Administrator, all)}
	if r.User.Administrator {
		page.Action = frame.LinkButton{Link: frame.Link{Label: "New workspace", Path: pathNewWorkspace, Icon: "plus"}, Kind: frame.Primary}
	}
	return p.frame.Show(w, r, page)
}

func workspaceRows(all []store.WorkspaceRole) []frame.Row {
	rows := make([]frame.Row, len(all))
	for i, ws := range all {
		path := workspacePath(ws.Account.Username, "")
		rows[i] = frame.Row{
			frame.Link{Label: ws.Account.Username, Path: path}, frame.Words(ws.Account.Name.FullName), frame.Words(roleName(ws.Role)),
			frame.LinkButton{Link: frame.Link{Label: "Open", Path: path}, Context: ws.Account.Username},
		}
	}
	return rows
}

// newWorkspace is what the form of a new workspace holds.
type newWorkspace struct {
	in   url.Values
	errs frame.Errors
}

func (p *Pages) newWorkspacePage(f newWorkspace) frame.Page {
	return frame.Page{Title: "New workspace", Crumbs: []frame.Link{workspacesCrumb}, Body: newWorkspaceView(f)}
}

func (p *Pages) showNewWorkspace(w http.ResponseWriter, r *frame.Request) error {
	if err := p.store.MayCreateWorkspaces(r.Actor); err != nil {
		return err
	}
	return p.frame.Show(w, r, p.newWorkspacePage(newWorkspace{in: url.Values{"currency": {"USD"}}}))
}

func (p *Pages) createWorkspace(w http.ResponseWriter, r *frame.Request) error {
	return p.frame.Submit(w, r, frame.Form{
		Check:  frame.Required("username", "Choose a username.", "currency", "Type the currency."),
		Fields: []string{"username", "name.firstname", "name.lastname", "email", "currency"},
		About:  map[string]string{"workspace": "username"},
		Again: func(in url.Values, wrong frame.Errors) (frame.Page, error) {
			return p.newWorkspacePage(newWorkspace{in, wrong}), nil
		},
		Rules: []frame.Rule{func(in url.Values) error { return p.store.CheckWorkspace(typedWorkspace(in)) }},
		Do: func(in url.Values) error {
			ws, err := p.store.CreateWorkspace(r.Context(), r.Actor, typedWorkspace(in))
			if err != nil {
				return err
			}
			said := "The workspace “" + ws.Account.Username + "” was created."
			if in.Get("sample") != "" {
				loaded, err := p.sampleLoaded(r, ws.Account.Username)
				if err != nil { // the workspace is there, and its overview offers the data again
					p.frame.Log.LogAttrs(r.Context(), slog.LevelError, "sample data was not loaded", slog.Any("error", err))
					loaded = "Sample data could not be loaded. Try again below."
				}
				said += " " + loaded
			}
			return p.frame.Redirect(w, r, workspacePath(ws.Account.Username, ""), said)
		},
	})
}

func typedWorkspace(in url.Values) store.Workspace {
	account := countersign.Account{Username: in.Get("username"), Email: in.Get("email"), Currency: in.Get("currency")}
	account.Name.Firstname, account.Name.Lastname = in.Get("name.firstname"), in.Get("name.lastname")
	return store.Workspace{Account: account}
}

func noWorkspaces(administrator bool) frame.Empty {
	if administrator {
		return frame.Empty{Icon: "package", Title: "No workspaces yet", Text: "Create one for each author who sells in this store.", Action: frame.Link{Label: "New workspace", Path: pathNewWorkspace}}
	}
	return frame.Empty{Icon: "package", Title: "You are not a member of a workspace", Text: "Ask an owner of the workspace, or an administrator of the store, for an invitation."}
}
