package pages

import (
	"net/http"

	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
)

// New serves all pages of the store and the assets. It belongs inside web.Edge,
// behind the other front ends' routes: programs get no page for a path that it does not know.
func New(o Options) *http.ServeMux {
	p := &Pages{store: o.Store, frame: o.Frame, limits: o.Limits, baseURL: o.BaseURL, api: o.API}
	mux := http.NewServeMux()
	o.Frame.Routes(mux)
	p.routes(mux)
	return mux
}

// FrameOptions is the frame that the store's pages need. The caller adds the log,
// the clock and what --base-url says.
func FrameOptions(s *store.Store) frame.Options {
	return frame.Options{
		People: s.Instance.People, Roles: true, RolesOf: rolesOf(s),
		Brand: "Countersign store", Command: "countersign store", Home: PathHome, SignIn: PathSignIn, Account: PathAccount, Cookies: "countersign_store", Menu: menu(),
	}
}

// routes is every address of the pages.
func (p *Pages) routes(mux *http.ServeMux) {
	mux.Handle("GET /{$}", p.frame.Public(p.showHome))
	mux.Handle("GET /invite", p.frame.Public(p.showInvite))
	mux.Handle("POST /invite", p.frame.Public(p.acceptInvite))

	mux.Handle("GET /w", p.frame.Admin(p.showWorkspaces))
	mux.Handle("POST /w", p.frame.Admin(p.createWorkspace))
	mux.Handle("GET /workspaces/new", p.frame.Admin(p.showNewWorkspace))
	mux.Handle("GET /w/{workspace}", p.inWorkspace(p.showOverview))
	mux.Handle("POST /w/{workspace}/sample", p.inWorkspace(p.loadSample))
	mux.Handle("GET /w/{workspace}/sample/remove", p.inWorkspace(p.removeSample))
	mux.Handle("POST /w/{workspace}/sample/remove", p.inWorkspace(p.removeSample))
	mux.Handle("GET /w/{workspace}/reports", p.inWorkspace(p.showReports))
	mux.Handle("GET /w/{workspace}/reports.csv", p.fileInWorkspace(p.exportReport))
	mux.Handle("GET /w/{workspace}/purchases", p.inWorkspace(p.showPurchases))
	mux.Handle("GET /w/{workspace}/purchases/lookup", p.inWorkspace(p.showLookup))
	mux.Handle("POST /w/{workspace}/purchases/lookup", p.inWorkspace(p.lookUp))
	mux.Handle("GET /w/{workspace}/purchases/new", p.inWorkspace(p.showNewPurchase))
	mux.Handle("POST /w/{workspace}/purchases/new", p.inWorkspace(p.recordPurchase))
	mux.Handle("GET /w/{workspace}/purchases/{purchase}", p.onPurchase(p.showPurchase))
	mux.Handle("GET /w/{workspace}/purchases/{purchase}/terms", p.onOwnPurchase(p.setTerms))
	mux.Handle("POST /w/{workspace}/purchases/{purchase}/terms", p.onOwnPurchase(p.setTerms))
	mux.Handle("GET /w/{workspace}/purchases/{purchase}/download-link", p.onOwnPurchase(p.createDownloadLink))
	mux.Handle("POST /w/{workspace}/purchases/{purchase}/download-link", p.onOwnPurchase(p.createDownloadLink))
	mux.Handle("GET /w/{workspace}/purchases/{purchase}/refund", p.onOwnPurchase(p.endPurchase(refund)))
	mux.Handle("POST /w/{workspace}/purchases/{purchase}/refund", p.onOwnPurchase(p.endPurchase(refund)))
	mux.Handle("GET /w/{workspace}/purchases/{purchase}/charge-back", p.onOwnPurchase(p.endPurchase(chargeBack)))
	mux.Handle("POST /w/{workspace}/purchases/{purchase}/charge-back", p.onOwnPurchase(p.endPurchase(chargeBack)))
	mux.Handle("GET /w/{workspace}/purchases/{purchase}/revoke", p.onOwnPurchase(p.endPurchase(revoke)))
	mux.Handle("POST /w/{workspace}/purchases/{purchase}/revoke", p.onOwnPurchase(p.endPurchase(revoke)))
	mux.Handle("GET /w/{workspace}/purchases/{purchase}/restore", p.onOwnPurchase(p.restorePurchase))
	mux.Handle("POST /w/{workspace}/purchases/{purchase}/restore", p.onOwnPurchase(p.restorePurchase))

	mux.Handle("GET /w/{workspace}/items", p.inWorkspace(p.showItems))
	mux.Handle("GET /w/{workspace}/items.csv", p.fileInWorkspace(p.exportItems))
	mux.Handle("POST /w/{workspace}/items/bulk", p.inWorkspace(p.changeItems))
	mux.Handle("GET /w/{workspace}/items/new", p.inWorkspace(p.showNewItem))
	mux.Handle("POST /w/{workspace}/items/new", p.inWorkspace(p.createItem))
	mux.Handle("GET /w/{workspace}/items/{item}", p.onItem(p.showItem))
	mux.Handle("GET /w/{workspace}/items/{item}/edit", p.onOwnItem(p.showItemForm))
	mux.Handle("POST /w/{workspace}/items/{item}/edit", p.onOwnItem(p.saveItem))
	mux.Handle("GET /w/{workspace}/items/{item}/media", p.onOwnItem(p.showItemMedia))
	mux.Handle("GET /w/{workspace}/items/{item}/media/{slot}", p.onOwnItem(p.toItemMedia))
	mux.Handle("POST /w/{workspace}/items/{item}/media/{slot}", p.uploadInWorkspace(maxUpload, p.withOwnItem(p.uploadItemMedia)))
	mux.Handle("GET /w/{workspace}/items/{item}/media/{slot}/remove", p.onOwnItem(p.removeItemMedia))
	mux.Handle("POST /w/{workspace}/items/{item}/media/{slot}/remove", p.onOwnItem(p.removeItemMedia))
	mux.Handle("GET /w/{workspace}/items/{item}/licensing", p.onOwnItem(p.setRule))
	mux.Handle("POST /w/{workspace}/items/{item}/licensing", p.onOwnItem(p.setRule))

	mux.Handle("GET /w/{workspace}/import", p.inWorkspace(p.showImports))
	mux.Handle("POST /w/{workspace}/import", p.uploadInWorkspace(maxImport, p.upload))
	mux.Handle("GET /w/{workspace}/import/{job}", p.inWorkspace(p.showImport))
	mux.Handle("POST /w/{workspace}/import/{job}/cancel", p.inWorkspace(p.cancelImport))
	mux.Handle("POST /w/{workspace}/import/{job}/run", p.inWorkspace(p.runImport))
	mux.Handle("GET /w/{workspace}/uploads/{upload}", p.inWorkspace(p.showUpload))
	mux.Handle("POST /w/{workspace}/uploads/{upload}", p.inWorkspace(p.confirmUpload))
	mux.Handle("POST /w/{workspace}/uploads/{upload}/discard", p.inWorkspace(p.discardUpload))
	mux.Handle("GET /w/{workspace}/import/{job}/rejected.csv", p.fileInWorkspace(p.sendRejected))
	mux.Handle("GET /w/{workspace}/import/{job}/undo", p.inWorkspace(p.undoImport))
	mux.Handle("POST /w/{workspace}/import/{job}/undo", p.inWorkspace(p.undoImport))

	mux.Handle("GET /w/{workspace}/audit", p.inWorkspace(p.showWorkspaceAudit))
	mux.Handle("GET /w/{workspace}/audit.csv", p.fileInWorkspace(p.exportWorkspaceAudit(people.AuditCSV)))
	mux.Handle("GET /w/{workspace}/audit.jsonl", p.fileInWorkspace(p.exportWorkspaceAudit(people.AuditJSONL)))
	mux.Handle("GET /w/{workspace}/settings", p.inWorkspace(p.toSettings))
	mux.Handle("GET /w/{workspace}/settings/general", p.asOwner(p.showAccount(generalForm)))
	mux.Handle("POST /w/{workspace}/settings/general", p.asOwner(p.saveAccount(generalForm)))
	mux.Handle("GET /w/{workspace}/settings/profile", p.asOwner(p.showAccount(profileForm)))
	mux.Handle("POST /w/{workspace}/settings/profile", p.asOwner(p.saveAccount(profileForm)))
	mux.Handle("GET /w/{workspace}/settings/profile/media", p.asOwner(p.showProfileMedia))
	mux.Handle("GET /w/{workspace}/settings/profile/media/{slot}", p.asOwner(p.toProfileMedia))
	mux.Handle("POST /w/{workspace}/settings/profile/media/{slot}", p.uploadInWorkspace(maxUpload, p.ownerAlone(p.uploadProfileMedia)))
	mux.Handle("GET /w/{workspace}/settings/profile/media/{slot}/remove", p.asOwner(p.removeProfileMedia))
	mux.Handle("POST /w/{workspace}/settings/profile/media/{slot}/remove", p.asOwner(p.removeProfileMedia))
	mux.Handle("GET /w/{workspace}/licenses/{license}/move", p.onLicense(p.moveIssued))
	mux.Handle("POST /w/{workspace}/licenses/{license}/move", p.onLicense(p.moveIssued))
	mux.Handle("GET /w/{workspace}/licenses/{license}/revoke", p.onLicense(p.revokeIssued))
	mux.Handle("POST /w/{workspace}/licenses/{license}/revoke", p.onLicense(p.revokeIssued))

	mux.Handle("GET /w/{workspace}/requests", p.inWorkspace(p.showRequests))
	mux.Handle("GET /w/{workspace}/requests/live", p.fileInWorkspace(p.streamRequests))
	mux.Handle("GET /w/{workspace}/requests/{request}", p.inWorkspace(p.showRequest))
	mux.Handle("GET /w/{workspace}/console", p.inWorkspace(p.showConsole))
	mux.Handle("POST /w/{workspace}/console", p.inWorkspace(p.callAPI))

	mux.Handle("GET /w/{workspace}/settings/api", p.inWorkspace(p.showKeys))
	mux.Handle("POST /w/{workspace}/settings/api/switches", p.inWorkspace(p.setSwitches))
	mux.Handle("GET /w/{workspace}/settings/api/new", p.inWorkspace(p.showNewKey))
	mux.Handle("POST /w/{workspace}/settings/api/new", p.inWorkspace(p.createKey))
	mux.Handle("GET /w/{workspace}/settings/api/{key}", p.onKey(p.showKey))
	mux.Handle("GET /w/{workspace}/settings/api/{key}/reveal", p.onOwnKey(p.revealKey))
	mux.Handle("POST /w/{workspace}/settings/api/{key}/reveal", p.onOwnKey(p.revealKey))
	mux.Handle("GET /w/{workspace}/settings/api/{key}/rotate", p.onOwnKey(p.rotateKey))
	mux.Handle("POST /w/{workspace}/settings/api/{key}/rotate", p.onOwnKey(p.rotateKey))
	mux.Handle("GET /w/{workspace}/settings/api/{key}/expiry", p.onOwnKey(p.setKeyExpiry))
	mux.Handle("POST /w/{workspace}/settings/api/{key}/expiry", p.onOwnKey(p.setKeyExpiry))
	mux.Handle("GET /w/{workspace}/settings/api/{key}/revoke", p.onOwnKey(p.revokeKey))
	mux.Handle("POST /w/{workspace}/settings/api/{key}/revoke", p.onOwnKey(p.revokeKey))
	mux.Handle("POST /w/{workspace}/settings/api/{key}/restore", p.onKey(p.restoreKey))
	mux.Handle("GET /w/{workspace}/settings/members", p.inWorkspace(p.showMembers))
	mux.Handle("POST /w/{workspace}/settings/members", p.inWorkspace(p.inviteMember))
	mux.Handle("GET /w/{workspace}/settings/members/new", p.inWorkspace(p.showNewMember))
	mux.Handle("GET /w/{workspace}/settings/members/{user}", p.onMember(p.showMember))
	mux.Handle("POST /w/{workspace}/settings/members/{user}", p.onMember(p.setMember))
	mux.Handle("GET /w/{workspace}/settings/members/{user}/remove", p.onMember(p.removeMember))
	mux.Handle("POST /w/{workspace}/settings/members/{user}/remove", p.onMember(p.removeMember))
	mux.Handle("POST /w/{workspace}/settings/members/invitations/{id}/withdraw", p.inWorkspace(p.withdrawInvitation))

	mux.Handle("GET /health", p.frame.Admin(p.showHealth))
	mux.Handle("GET /audit", p.frame.Admin(p.showAudit))
	mux.Handle("GET /audit.csv", p.frame.AdminFile(p.exportAudit(people.AuditCSV)))
	mux.Handle("GET /audit.jsonl", p.frame.AdminFile(p.exportAudit(people.AuditJSONL)))

	mux.Handle("GET /download/{token}", p.frame.Public(p.download))

	mux.Handle("GET /license", p.frame.Public(p.showLicense))
	mux.Handle("POST /license", p.frame.Public(p.issueLicense))
	mux.Handle("GET /license/move", p.frame.Public(p.frame.To(PathLicense)))
	mux.Handle("POST /license/move", p.frame.Public(p.moveLicense))
	mux.Handle("GET /license/revoke", p.frame.Public(p.frame.To(PathLicense)))
	mux.Handle("POST /license/revoke", p.frame.Public(p.revokeLicense))

	nowhere := p.frame.Public(p.frame.NotFound)
	mux.Handle("/license", p.frame.Methods(mux, nowhere))
	mux.Handle("/license/move", p.frame.Methods(mux, nowhere))
	mux.Handle("/license/revoke", p.frame.Methods(mux, nowhere))
	// Below these, only readers who are signed in are told what there is.
	mux.Handle("/w/", p.frame.Methods(mux, p.frame.Admin(p.frame.NotFound)))
	mux.Handle("/w/{workspace}/", p.frame.Methods(mux, p.inWorkspace(func(w http.ResponseWriter, r *frame.Request, _ store.WorkspaceRole) error {
		return p.frame.NotFound(w, r)
	})))
	mux.Handle("/me/", p.frame.Methods(mux, p.frame.Admin(p.frame.NotFound)))
	mux.Handle("GET /users/{id}/administrator", p.frame.Admin(p.frame.ChangeAdministrator))
	mux.Handle("POST /users/{id}/administrator", p.frame.Admin(p.frame.ChangeAdministrator))
	mux.Handle("/users/", p.frame.Methods(mux, p.frame.Admin(p.frame.NotFound)))
	mux.Handle("/", p.frame.Elsewhere(mux, "/api/"))
}
