package pages

import (
	"net/http"

	"github.com/countersign/countersign/internal/people"
)

// The addresses that only the pages need to know.
const (
	pathIAP      = "/api-addons/admin/iap/settings"
	pathAccount  = "/api-addons/admin/iap/settings/account"
	pathProducts = "/api-addons/admin/iap/settings/products"
	pathDecline  = "/api-addons/admin/iap/decline"
	pathPackages = "/api-addons/admin/packages"
	pathHistory  = "/api-addons/admin/history"
	pathPreview  = "/api-addons/admin/preview"
	pathHealth   = "/api-addons/admin/health"
	pathAudit    = "/api-addons/admin/audit"
)

// routes is every address of the pages. The frame adds the shared ones: sign-in,
// set-up, the user's own pages and the assets.
func (p *Pages) routes(mux *http.ServeMux) {
	mux.Handle("GET /api-addons/admin", p.admin(p.showDashboard))

	mux.Handle("GET /api-addons/admin/app/settings", p.admin(p.showApp))
	mux.Handle("POST /api-addons/admin/app/settings", p.admin(p.saveApp))
	mux.Handle("GET /api-addons/admin/app/settings/publish", p.admin(p.showPublish(appForm)))
	mux.Handle("POST /api-addons/admin/app/settings/publish", p.admin(p.publish(appForm)))

	mux.Handle("GET /api-addons/admin/iap/settings", p.admin(p.showIAP))
	mux.Handle("POST /api-addons/admin/iap/settings", p.admin(p.saveIAP))
	mux.Handle("GET /api-addons/admin/iap/settings/publish", p.admin(p.showPublish(iapForm)))
	mux.Handle("POST /api-addons/admin/iap/settings/publish", p.admin(p.publish(iapForm)))
	mux.Handle("GET /api-addons/admin/iap/settings/products", p.admin(p.showProducts))
	mux.Handle("POST /api-addons/admin/iap/settings/products", p.admin(p.saveProducts))
	mux.Handle("GET /api-addons/admin/iap/settings/account", p.admin(p.showAccount))
	mux.Handle("POST /api-addons/admin/iap/settings/account", p.admin(p.saveAccount))
	mux.Handle("GET /api-addons/admin/iap/settings/account/test", p.admin(p.to(pathAccount)))
	mux.Handle("POST /api-addons/admin/iap/settings/account/test", p.admin(p.testAccount))
	mux.Handle("GET /api-addons/admin/iap/settings/account/remove", p.admin(p.showRemoveAccount))
	mux.Handle("POST /api-addons/admin/iap/settings/account/remove", p.admin(p.removeAccount))
	mux.Handle("GET /api-addons/admin/iap/decline", p.admin(p.showDecline))
	mux.Handle("POST /api-addons/admin/iap/decline", p.admin(p.decline))

	mux.Handle("GET /api-addons/admin/packages", p.admin(p.showPackages))
	mux.Handle("POST /api-addons/admin/packages", p.admin(p.addPackage))
	mux.Handle("GET /api-addons/admin/packages/new", p.admin(p.showNewPackage))
	mux.Handle("GET /api-addons/admin/packages/{id}", p.admin(p.showPackage))
	mux.Handle("POST /api-addons/admin/packages/{id}", p.admin(p.updatePackage))
	mux.Handle("GET /api-addons/admin/packages/{id}/remove", p.admin(p.showRemovePackage))
	mux.Handle("POST /api-addons/admin/packages/{id}/remove", p.admin(p.removePackage))

	mux.Handle("GET /api-addons/admin/license", p.admin(p.showLicenses))
	mux.Handle("POST /api-addons/admin/license", p.admin(p.makeLicense))
	mux.Handle("GET /api-addons/admin/license/move", p.admin(p.showMove))
	mux.Handle("POST /api-addons/admin/license/move", p.admin(p.moveLicense))
	mux.Handle("GET /api-addons/admin/license/store", p.admin(p.showStore))
	mux.Handle("POST /api-addons/admin/license/store", p.admin(p.setStore))
	mux.Handle("GET /api-addons/admin/license/{id}", p.admin(p.showLicense))
	mux.Handle("GET /api-addons/admin/license/{id}/file", p.adminFile(p.downloadLicense))
	mux.Handle("GET /api-addons/admin/license/{id}/check", p.admin(p.showLicense))
	mux.Handle("POST /api-addons/admin/license/{id}/check", p.admin(p.checkLicense))
	mux.Handle("GET /api-addons/admin/license/{id}/revoke", p.admin(p.showRevoke))
	mux.Handle("POST /api-addons/admin/license/{id}/revoke", p.admin(p.revokeLicense))
	mux.Handle("GET /api-addons/admin/license/{id}/forget", p.admin(p.showForget))
	mux.Handle("POST /api-addons/admin/license/{id}/forget", p.admin(p.forgetLicense))
	mux.Handle("GET /api-addons/admin/license/codes/{id}/forget", p.admin(p.showForgetCode))
	mux.Handle("POST /api-addons/admin/license/codes/{id}/forget", p.admin(p.forgetCode))

	mux.Handle("GET /api-addons/admin/history", p.admin(p.showHistory))
	mux.Handle("GET /api-addons/admin/history/{version}", p.admin(p.showVersion))
	mux.Handle("GET /api-addons/admin/history/{version}/restore", p.admin(p.showRestore))
	mux.Handle("POST /api-addons/admin/history/{version}/restore", p.admin(p.restore))

	mux.Handle("GET /api-addons/admin/preview", p.admin(p.showPreview(everything)))
	mux.Handle("GET /api-addons/admin/preview/ios", p.admin(p.showPreview(onIPhones)))
	mux.Handle("GET /api-addons/admin/preview/android", p.admin(p.showPreview(onAndroid)))
	mux.Handle("GET /api-addons/admin/preview/iap", p.admin(p.showPreview(purchases)))

	mux.Handle("GET /api-addons/admin/health", p.admin(p.showHealth))
	mux.Handle("GET /api-addons/admin/audit", p.admin(p.showAudit))
	mux.Handle("GET /api-addons/admin/audit.csv", p.adminFile(p.exportAudit(people.AuditCSV)))
	mux.Handle("GET /api-addons/admin/audit.jsonl", p.adminFile(p.exportAudit(people.AuditJSONL)))

	mux.Handle("GET /admincp", p.admin(p.to(PathCredentials)))
	mux.Handle("GET /admincp/apis", p.admin(p.showCredentials))
	mux.Handle("POST /admincp/apis", p.admin(p.createCredential))
	mux.Handle("GET /admincp/apis/new", p.admin(p.showNewCredential))
	mux.Handle("GET /admincp/apis/{id}", p.admin(p.showCredential))
	mux.Handle("POST /admincp/apis/{id}", p.admin(p.switchCredential))
	mux.Handle("GET /admincp/apis/{id}/reveal", p.admin(p.showReveal))
	mux.Handle("POST /admincp/apis/{id}/reveal", p.admin(p.revealCredential))
	mux.Handle("GET /admincp/apis/{id}/rotate", p.admin(p.showRotate))
	mux.Handle("POST /admincp/apis/{id}/rotate", p.admin(p.rotateCredential))

	mux.Handle("GET /api-addons/update.php", p.frame.Public(p.showUpdate))
	mux.Handle("POST /api-addons/update.php", p.frame.Public(p.runUpdate))

	mux.Handle("GET /{$}", p.frame.Public(p.to(PathDashboard)))
	mux.Handle("/api-addons/admin/", p.frame.Methods(mux, p.admin(p.frame.NotFound)))
	mux.Handle("/admincp/", p.frame.Methods(mux, p.admin(p.frame.NotFound)))
	mux.Handle("/", p.frame.Methods(mux, p.frame.Public(p.frame.NotFound)))
}
