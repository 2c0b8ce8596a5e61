package pages

import (
	"context"
	"net/http"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/setup"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/people"
)

// New serves all pages of the addon, the frame's shared ones and the assets. Its
// handler belongs inside web.Edge, which knows the client's address; a path that
// leads nowhere is a page as well, so it can stand behind other routes.
func New(o Options) *http.ServeMux {
	p := &Pages{addon: o.Addon, frame: o.Frame}
	mux := http.NewServeMux()
	o.Frame.Routes(mux)
	p.routes(mux)
	return mux
}

// FrameOptions is the frame that the addon's pages need. The caller adds the log,
// the clock and what --base-url says.
func FrameOptions(a *addon.Addon) frame.Options {
	return frame.Options{
		People: a.Instance.People, Installed: a.Installed, Known: known(a), Brand: "Countersign addon", Command: "countersign addon",
		Home: PathDashboard, SignIn: PathSignIn, Account: PathAccount, UpdatePage: PathUpdate, SetupFile: setup.LinkFile,
		Menu: menu(), DocsFolder: "/api-addons", CheckupBanner: func(r *frame.Request) frame.Banner { return banner(r, a) },
	}
}

// known is an error until somebody could look how far the addon is set up.
func known(a *addon.Addon) func() error {
	return func() error {
		if a.State() != "" {
			return nil
		}
		return a.Instance.Ready(context.Background())
	}
}

// routes is every address of the pages. The frame adds the shared ones: sign-in,
// set-up, the user's own pages and the assets.
func (p *Pages) routes(mux *http.ServeMux) {
	mux.Handle("GET /api-addons/admin", p.admin(p.showDashboard))

	mux.Handle("GET /api-addons/admin/app/settings", p.admin(p.showApp))
	mux.Handle("POST /api-addons/admin/app/settings", p.admin(p.saveApp))
	mux.Handle("GET /api-addons/admin/app/settings/publish", p.admin(p.showPublish(appForm)))
	mux.Handle("POST /api-addons/admin/app/settings/publish", p.admin(p.publish(appForm)))
	mux.Handle("GET /api-addons/admin/app/settings/discard", p.admin(p.discard(appForm)))
	mux.Handle("POST /api-addons/admin/app/settings/discard", p.admin(p.discard(appForm)))

	mux.Handle("GET /api-addons/admin/iap/settings", p.admin(p.showIAP))
	mux.Handle("POST /api-addons/admin/iap/settings", p.admin(p.saveIAP))
	mux.Handle("GET /api-addons/admin/iap/settings/publish", p.admin(p.showPublish(iapForm)))
	mux.Handle("POST /api-addons/admin/iap/settings/publish", p.admin(p.publish(iapForm)))
	mux.Handle("GET /api-addons/admin/iap/settings/discard", p.admin(p.discard(iapForm)))
	mux.Handle("POST /api-addons/admin/iap/settings/discard", p.admin(p.discard(iapForm)))
	mux.Handle("GET /api-addons/admin/iap/settings/products", p.admin(p.showProducts))
	mux.Handle("POST /api-addons/admin/iap/settings/products", p.admin(p.saveProducts))
	mux.Handle("GET /api-addons/admin/iap/settings/account", p.admin(found(p.readAccount, p.showAccount)))
	mux.Handle("POST /api-addons/admin/iap/settings/account", p.admin(p.saveAccount))
	mux.Handle("GET /api-addons/admin/iap/settings/account/test", p.admin(p.frame.To(pathAccount)))
	mux.Handle("POST /api-addons/admin/iap/settings/account/test", p.admin(found(p.readAccount, p.testAccount)))
	mux.Handle("GET /api-addons/admin/iap/settings/account/remove", p.admin(found(p.readAccount, p.showRemoveAccount)))
	mux.Handle("POST /api-addons/admin/iap/settings/account/remove", p.admin(p.removeAccount))
	mux.Handle("GET /api-addons/admin/iap/settings/connection", p.admin(p.showConnection))
	mux.Handle("POST /api-addons/admin/iap/settings/connection", p.admin(p.testConnection))
	mux.Handle("GET /api-addons/admin/iap/decline", p.admin(p.decline))
	mux.Handle("POST /api-addons/admin/iap/decline", p.admin(p.decline))

	mux.Handle("GET /api-addons/admin/iap/simulator", p.admin(p.showSimulator))
	mux.Handle("POST /api-addons/admin/iap/simulator", p.admin(p.buySimulated))
	mux.Handle("GET /api-addons/admin/iap/simulator/clear", p.admin(p.clearSimulator))
	mux.Handle("POST /api-addons/admin/iap/simulator/clear", p.admin(p.clearSimulator))
	mux.Handle("GET /api-addons/admin/iap/simulator/{ref}", p.admin(p.simulated(p.showSimulated)))
	mux.Handle("POST /api-addons/admin/iap/simulator/{ref}", p.admin(p.simulated(p.actSimulated)))
	mux.Handle("POST /api-addons/admin/iap/simulator/{ref}/replace", p.admin(p.simulated(p.replaceSimulated)))

	mux.Handle("GET /api-addons/admin/packages", p.admin(p.showPackages))
	mux.Handle("POST /api-addons/admin/packages", p.admin(p.addPackage))
	mux.Handle("GET /api-addons/admin/packages/new", p.admin(p.showNewPackage))
	mux.Handle("GET /api-addons/admin/packages/{id}", p.admin(found(p.onePackage, p.showPackage)))
	mux.Handle("POST /api-addons/admin/packages/{id}", p.admin(found(p.onePackage, p.updatePackage)))
	mux.Handle("GET /api-addons/admin/packages/{id}/remove", p.admin(found(p.onePackage, p.removePackage)))
	mux.Handle("POST /api-addons/admin/packages/{id}/remove", p.admin(found(p.onePackage, p.removePackage)))

	mux.Handle("GET /api-addons/admin/customers", p.admin(p.showCustomers))
	mux.Handle("POST /api-addons/admin/customers", p.admin(p.findCustomer))
	mux.Handle("GET /api-addons/admin/customers/{user}", p.admin(found(p.findUser, p.showCustomer)))
	mux.Handle("GET /api-addons/admin/customers/{user}/grant", p.admin(found(p.findUser, p.addGrant)))
	mux.Handle("POST /api-addons/admin/customers/{user}/grant", p.admin(found(p.findUser, p.addGrant)))
	mux.Handle("GET /api-addons/admin/customers/{user}/merge", p.admin(found(p.findUser, p.mergeCustomer)))
	mux.Handle("POST /api-addons/admin/customers/{user}/merge", p.admin(found(p.findUser, p.mergeCustomer)))
	mux.Handle("GET /api-addons/admin/customers/{user}/erase", p.admin(found(p.findUser, p.eraseCustomer)))
	mux.Handle("POST /api-addons/admin/customers/{user}/erase", p.admin(found(p.findUser, p.eraseCustomer)))
	mux.Handle("GET /api-addons/admin/customers/{user}/grants/{id}/end", p.admin(found(p.findGrant, p.endGrant)))
	mux.Handle("POST /api-addons/admin/customers/{user}/grants/{id}/end", p.admin(found(p.findGrant, p.endGrant)))
	mux.Handle("GET /api-addons/admin/purchases/{purchase}", p.admin(found(p.findPurchase, p.showPurchase)))
	mux.Handle("GET /api-addons/admin/purchases/{purchase}/refresh", p.admin(found(p.findPurchase, p.refreshPurchase)))
	mux.Handle("POST /api-addons/admin/purchases/{purchase}/refresh", p.admin(found(p.findPurchase, p.refreshPurchase)))
	mux.Handle("GET /api-addons/admin/purchases/{purchase}/transfer", p.admin(found(p.findPurchase, p.transferPurchase)))
	mux.Handle("POST /api-addons/admin/purchases/{purchase}/transfer", p.admin(found(p.findPurchase, p.transferPurchase)))
	mux.Handle("GET /api-addons/admin/purchases/{purchase}/refuse", p.admin(found(p.findPurchase, p.refusePurchase)))
	mux.Handle("POST /api-addons/admin/purchases/{purchase}/refuse", p.admin(found(p.findPurchase, p.refusePurchase)))
	mux.Handle("GET /api-addons/admin/purchases/{purchase}/cancel", p.admin(found(p.findPurchase, p.cancelPurchase)))
	mux.Handle("POST /api-addons/admin/purchases/{purchase}/cancel", p.admin(found(p.findPurchase, p.cancelPurchase)))
	mux.Handle("GET /api-addons/admin/purchases/{purchase}/defer", p.admin(found(p.findPurchase, p.deferPurchase)))
	mux.Handle("POST /api-addons/admin/purchases/{purchase}/defer", p.admin(found(p.findPurchase, p.deferPurchase)))
	mux.Handle("GET /api-addons/admin/purchases/{purchase}/refund", p.admin(found(p.findPurchase, p.refundPurchase)))
	mux.Handle("POST /api-addons/admin/purchases/{purchase}/refund", p.admin(found(p.findPurchase, p.refundPurchase)))
	mux.Handle("GET /api-addons/admin/numbers", p.admin(p.showNumbers))
	mux.Handle("GET /api-addons/admin/numbers.csv", p.adminFile(p.exportNumbers))

	mux.Handle("GET /api-addons/admin/notifications", p.admin(p.showNotifications))
	mux.Handle("POST /api-addons/admin/notifications/dismiss", p.admin(p.dismissAlert))
	mux.Handle("GET /api-addons/admin/notifications/review", p.admin(p.answerReview))
	mux.Handle("POST /api-addons/admin/notifications/review", p.admin(p.answerReview))

	mux.Handle("GET /api-addons/admin/webhooks", p.admin(p.showWebhooks))
	mux.Handle("POST /api-addons/admin/webhooks", p.admin(p.addWebhook))
	mux.Handle("GET /api-addons/admin/webhooks/new", p.admin(p.showNewWebhook))
	mux.Handle("GET /api-addons/admin/webhooks/{id}", p.admin(found(p.findWebhook, p.showWebhook)))
	mux.Handle("GET /api-addons/admin/webhooks/{id}/edit", p.admin(found(p.findWebhook, p.editWebhook)))
	mux.Handle("POST /api-addons/admin/webhooks/{id}/edit", p.admin(found(p.findWebhook, p.editWebhook)))
	mux.Handle("GET /api-addons/admin/webhooks/{id}/pause", p.admin(found(p.findWebhook, p.pauseWebhook)))
	mux.Handle("POST /api-addons/admin/webhooks/{id}/pause", p.admin(found(p.findWebhook, p.pauseWebhook)))
	mux.Handle("GET /api-addons/admin/webhooks/{id}/resume", p.admin(found(p.findWebhook, p.resumeWebhook)))
	mux.Handle("POST /api-addons/admin/webhooks/{id}/resume", p.admin(found(p.findWebhook, p.resumeWebhook)))
	mux.Handle("GET /api-addons/admin/webhooks/{id}/ping", p.admin(found(p.findWebhook, p.pingWebhook)))
	mux.Handle("POST /api-addons/admin/webhooks/{id}/ping", p.admin(found(p.findWebhook, p.pingWebhook)))
	mux.Handle("GET /api-addons/admin/webhooks/{id}/reveal", p.admin(found(p.findWebhook, p.revealWebhook)))
	mux.Handle("POST /api-addons/admin/webhooks/{id}/reveal", p.admin(found(p.findWebhook, p.revealWebhook)))
	mux.Handle("GET /api-addons/admin/webhooks/{id}/rotate", p.admin(found(p.findWebhook, p.rotateWebhook)))
	mux.Handle("POST /api-addons/admin/webhooks/{id}/rotate", p.admin(found(p.findWebhook, p.rotateWebhook)))
	mux.Handle("GET /api-addons/admin/webhooks/{id}/remove", p.admin(found(p.findWebhook, p.removeWebhook)))
	mux.Handle("POST /api-addons/admin/webhooks/{id}/remove", p.admin(found(p.findWebhook, p.removeWebhook)))
	mux.Handle("GET /api-addons/admin/webhooks/{id}/replay", p.admin(found(p.findWebhook, p.replaySince)))
	mux.Handle("POST /api-addons/admin/webhooks/{id}/replay", p.admin(found(p.findWebhook, p.replaySince)))
	mux.Handle("GET /api-addons/admin/webhooks/{id}/deliveries/{delivery}", p.admin(found(p.findDelivery, p.showDelivery)))
	mux.Handle("GET /api-addons/admin/webhooks/{id}/deliveries/{delivery}/replay", p.admin(found(p.findDelivery, p.replayDelivery)))
	mux.Handle("POST /api-addons/admin/webhooks/{id}/deliveries/{delivery}/replay", p.admin(found(p.findDelivery, p.replayDelivery)))

	mux.Handle("GET /api-addons/admin/license", p.admin(p.showLicenses))
	mux.Handle("POST /api-addons/admin/license", p.admin(p.makeLicense))
	mux.Handle("GET /api-addons/admin/license/move", p.admin(p.moveLicense))
	mux.Handle("POST /api-addons/admin/license/move", p.admin(p.moveLicense))
	mux.Handle("GET /api-addons/admin/license/store", p.admin(p.setStore))
	mux.Handle("POST /api-addons/admin/license/store", p.admin(p.setStore))
	mux.Handle("GET /api-addons/admin/license/{id}", p.admin(found(p.findLicense, p.showLicense)))
	mux.Handle("GET /api-addons/admin/license/{id}/file", p.adminFile(found(p.findLicense, p.downloadLicense)))
	mux.Handle("GET /api-addons/admin/license/{id}/check", p.admin(found(p.findLicense, p.showLicense)))
	mux.Handle("POST /api-addons/admin/license/{id}/check", p.admin(found(p.findLicense, p.checkLicense)))
	mux.Handle("GET /api-addons/admin/license/{id}/revoke", p.admin(found(p.findLicense, p.revokeLicense)))
	mux.Handle("POST /api-addons/admin/license/{id}/revoke", p.admin(found(p.findLicense, p.revokeLicense)))
	mux.Handle("GET /api-addons/admin/license/{id}/forget", p.admin(found(p.findLicense, p.forgetLicense)))
	mux.Handle("POST /api-addons/admin/license/{id}/forget", p.admin(found(p.findLicense, p.forgetLicense)))
	mux.Handle("GET /api-addons/admin/license/codes/{id}/forget", p.admin(found(p.oneCode, p.forgetCode)))
	mux.Handle("POST /api-addons/admin/license/codes/{id}/forget", p.admin(found(p.oneCode, p.forgetCode)))

	mux.Handle("GET /api-addons/admin/history", p.admin(p.showHistory))
	mux.Handle("GET /api-addons/admin/history/{version}", p.admin(found(p.findVersion, p.showVersion)))
	mux.Handle("GET /api-addons/admin/history/{version}/restore", p.admin(found(p.findVersion, p.showRestore)))
	mux.Handle("POST /api-addons/admin/history/{version}/restore", p.admin(found(p.findVersion, p.restore)))

	mux.Handle("GET /api-addons/admin/preview", p.admin(p.showPreview(everything)))
	mux.Handle("GET /api-addons/admin/preview/ios", p.admin(p.showPreview(onIPhones)))
	mux.Handle("GET /api-addons/admin/preview/android", p.admin(p.showPreview(onAndroid)))
	mux.Handle("GET /api-addons/admin/preview/iap", p.admin(p.showPreview(purchases)))

	mux.Handle("GET /api-addons/admin/health", p.admin(p.showHealth))
	mux.Handle("GET /api-addons/admin/audit", p.admin(p.showAudit))
	mux.Handle("GET /api-addons/admin/audit.csv", p.adminFile(p.exportAudit(people.AuditCSV)))
	mux.Handle("GET /api-addons/admin/audit.jsonl", p.adminFile(p.exportAudit(people.AuditJSONL)))

	mux.Handle("GET /admincp", p.admin(p.frame.To(PathCredentials)))
	mux.Handle("GET /admincp/apis", p.admin(p.showCredentials))
	mux.Handle("POST /admincp/apis", p.admin(p.createCredential))
	mux.Handle("GET /admincp/apis/new", p.admin(p.showNewCredential))
	mux.Handle("GET /admincp/apis/{id}", p.admin(found(p.oneCredential, p.showCredential)))
	mux.Handle("POST /admincp/apis/{id}", p.admin(found(p.oneCredential, p.switchCredential)))
	mux.Handle("GET /admincp/apis/{id}/reveal", p.admin(found(p.oneCredential, p.revealCredential)))
	mux.Handle("POST /admincp/apis/{id}/reveal", p.admin(found(p.oneCredential, p.revealCredential)))
	mux.Handle("GET /admincp/apis/{id}/rotate", p.admin(found(p.oneCredential, p.rotateCredential)))
	mux.Handle("POST /admincp/apis/{id}/rotate", p.admin(found(p.oneCredential, p.rotateCredential)))
	mux.Handle("GET /admincp/apis/{id}/rename", p.admin(found(p.oneCredential, p.renameCredential)))
	mux.Handle("POST /admincp/apis/{id}/rename", p.admin(found(p.oneCredential, p.renameCredential)))
	mux.Handle("GET /admincp/apis/{id}/delete", p.admin(found(p.oneCredential, p.deleteCredential)))
	mux.Handle("POST /admincp/apis/{id}/delete", p.admin(found(p.oneCredential, p.deleteCredential)))
	mux.Handle("GET /admincp/apis/dismiss", p.admin(p.dismissCredentialWarning))
	mux.Handle("POST /admincp/apis/dismiss", p.admin(p.dismissCredentialWarning))

	mux.Handle("GET /api-addons/update.php", p.frame.Public(p.showUpdate))
	mux.Handle("POST /api-addons/update.php", p.frame.Public(p.runUpdate))

	mux.Handle("GET /{$}", p.frame.Public(p.frame.To(PathDashboard)))
	mux.Handle("/api-addons/admin/", p.frame.Methods(mux, p.admin(p.frame.NotFound)))
	mux.Handle("/admincp/", p.frame.Methods(mux, p.admin(p.frame.NotFound)))
	mux.Handle("/", p.frame.Methods(mux, p.frame.Public(p.frame.NotFound)))
}

func menu() []frame.MenuItem {
	return []frame.MenuItem{
		{Label: "Dashboard", Path: PathDashboard, Icon: "layout-dashboard"},
		{Label: "App settings", Path: PathAppSettings, Icon: "sliders-horizontal", Group: "App"},
		{Label: "License file", Path: pathLicense, Icon: "file-key", Group: "App"},
		{Label: "Preview", Path: pathPreview, Icon: "eye", Group: "App"},
		{Label: "History", Path: pathHistory, Icon: "history", Group: "App"},
		{Label: "In-app purchases", Path: pathIAP, Icon: "credit-card", Group: "Memberships"},
		{Label: "Packages", Path: pathPackages, Icon: "package", Group: "Memberships"},
		{Label: "Customers", Path: pathCustomers, Icon: "users", Group: "Memberships", Also: pathPurchases},
		{Label: "Numbers", Path: pathNumbers, Icon: "chart-column", Group: "Memberships"},
		{Label: "Notifications", Path: pathNotifications, Icon: "activity", Group: "Memberships"},
		{Label: "Webhooks", Path: pathWebhooks, Icon: "link", Group: "Memberships"},
		{Label: "Simulated store", Path: pathSimulator, Icon: "store", Group: "Memberships"},
		{Label: "API access", Path: PathCredentials, Icon: "key-round", Group: "Server"},
		{Label: "Administrators", Path: pathUsers, Icon: "user", Group: "Server"},
		{Label: "Update", Path: PathUpdate, Icon: "refresh-cw", Group: "Server"},
		{Label: "Health", Path: pathHealth, Icon: "heart-pulse", Group: "Server"},
		{Label: "Audit log", Path: pathAudit, Icon: "scroll-text", Group: "Server"},
	}
}
