package pages

import (
	"net/http"
	"strings"

	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
)

// workspaceNouns are what the log of a workspace can be narrowed to.
var workspaceNouns = []frame.Choice{
	{Value: "workspace", Label: "Account and switches"},
	{Value: "key", Label: "API keys"},
	{Value: "item", Label: "Items"},
	{Value: "purchase", Label: "Purchases"},
	{Value: "license", Label: "Licenses"},
	{Value: "member", Label: "Members"},
}

// auditNouns are what the log of the store can be narrowed to.
var auditNouns = frame.AuditNouns(append(workspaceNouns[:len(workspaceNouns):len(workspaceNouns)],
	frame.Choice{Value: "license_key", Label: "Keys that sign licenses"},
	frame.Choice{Value: "store", Label: "The store as a whole"},
	frame.Choice{Value: "backup", Label: "Backups"},
)...)

// acts says in words what the actions of the log are.
var acts = frame.AuditWords(map[people.Action]string{
	"workspace.create": "Created a workspace", "workspace.set": "Changed the account or a switch", "workspace.set_media": "Uploaded a picture of the profile", "workspace.remove_media": "Removed a picture of the profile",
	"key.create": "Created an API key", "key.reveal": "Revealed an API key", "key.rotate": "Rotated an API key", "key.revoke": "Revoked an API key", "key.restore": "Restored an API key", "key.expire": "Changed when an API key expires", "key.use": "Called the API with a key",
	"item.create": "Created an item", "item.edit": "Changed an item", "item.licensing": "Changed the license rules of an item", "item.set_media": "Uploaded a file of an item", "item.remove_media": "Removed a file of an item",
	"license.issue": "Issued a license", "license.move": "Moved a license to another domain", "license.revoke": "Revoked a license", "license_key.rotate": "Rotated the key that signs licenses",
	"purchase.create": "Recorded a purchase", "purchase.refund": "Refunded a purchase", "purchase.charge_back": "Marked a purchase as charged back", "purchase.revoke": "Revoked a purchase", "purchase.restore": "Restored a purchase", "purchase.set": "Changed a purchase", "purchase.create_download_link": "Created a download link", "purchase.download": "Downloaded the file of a purchase",
	"member.invite": "Invited a member", "member.withdraw_invitation": "Withdrew an invitation", "member.add": "Added a member", "member.set": "Changed a role", "member.remove": "Removed a member",
	"store.import": "Imported a file", "store.undo_import": "Undid an import", "store.cancel_import": "Cancelled an import", "store.export": "Exported the store", "store.rekey": "Created a new key file", "backup.create": "Created a backup", "backup.restore": "Restored a backup", "backup.schedule": "Changed the schedule of backups", "store.accept_loss": "Accepted missing commits",
	"store.move": "Moved the store to another database",
})

// auditLink leads from an entry of the log to its purchase or item.
func auditLink(l people.AuditLine) string {
	noun, _, _ := strings.Cut(string(l.Action), ".")
	if l.Workspace == "" || idOf(l.Subject) == 0 {
		return ""
	}
	switch noun {
	case "purchase":
		return workspacePath(l.Workspace, "/purchases/"+l.Subject)
	case "item":
		return workspacePath(l.Workspace, "/items/"+l.Subject)
	}
	return ""
}

// storeLog is the audit log of the whole store.
func (p *Pages) storeLog() frame.AuditLog {
	return frame.AuditLog{
		Log: p.store.Instance.Audit, Path: pathAudit, Nouns: auditNouns, Words: acts, Links: auditLink, Workspaces: true,
		Lead: "All changes in the store by pages, command line and API: who, what, when and from where.",
	}
}

// workspaceLog is the part of the log that is about a workspace.
func (p *Pages) workspaceLog(ws store.WorkspaceRole) frame.AuditLog {
	return frame.AuditLog{
		Log: p.store.WorkspaceAudit(ws.Account.Username), Path: workspacePath(ws.Account.Username, "/audit"), Crumbs: []frame.Link{workspaceCrumb(ws)},
		Nouns: append([]frame.Choice{{Label: "Everything"}}, workspaceNouns...), Words: acts, Links: auditLink,
		Lead: "All changes in this workspace: who, what, when and from where.",
	}
}

func (p *Pages) showAudit(w http.ResponseWriter, r *frame.Request) error {
	return p.frame.ShowAudit(w, r, p.storeLog())
}

func (p *Pages) exportAudit(format people.AuditFormat) frame.Handler {
	return func(w http.ResponseWriter, r *frame.Request) error {
		return p.frame.ExportAudit(w, r, p.storeLog(), format)
	}
}

func (p *Pages) showWorkspaceAudit(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	return p.frame.ShowAudit(w, r, p.workspaceLog(ws))
}

func (p *Pages) exportWorkspaceAudit(format people.AuditFormat) placeHandler {
	return func(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
		return p.frame.ExportAudit(w, r, p.workspaceLog(ws), format)
	}
}
