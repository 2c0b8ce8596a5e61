// Package pages is the front end of the addon for people: the dashboard, the settings
// of the app and of in-app purchases, packages, license files, credentials,
// history, preview, update, health and audit. Every page works without scripts; a form that was
// done leads on by 303, one that was refused is shown again with 422.
package pages

//go:generate go tool templ generate

import (
	"net/http"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
)

// The pages' addresses that other packages need to know.
const (
	PathDashboard   = "/api-addons/admin"
	PathAppSettings = "/api-addons/admin/app/settings"
	PathUpdate      = "/api-addons/update.php"
	PathCredentials = "/admincp/apis"
	PathSignIn      = "/admincp/login"
	PathAccount     = "/admincp/me"
)

// The addresses that only the pages need to know.
const (
	pathIAP           = "/api-addons/admin/iap/settings"
	pathAccount       = "/api-addons/admin/iap/settings/account"
	pathProducts      = "/api-addons/admin/iap/settings/products"
	pathDecline       = "/api-addons/admin/iap/decline"
	pathSimulator     = "/api-addons/admin/iap/simulator"
	pathPackages      = "/api-addons/admin/packages"
	pathLicense       = "/api-addons/admin/license"
	pathLicenseStore  = pathLicense + "/store"
	pathConnection    = pathIAP + "/connection"
	pathCatalogue     = pathConnection + "#" + "s-products"
	pathWebhooks      = "/api-addons/admin/webhooks"
	pathNotifications = "/api-addons/admin/notifications"
	pathNumbers       = "/api-addons/admin/numbers"
	pathDismissAlert  = pathNotifications + "/dismiss"
	pathReview        = pathNotifications + "/review"
	pathHistory       = "/api-addons/admin/history"
	pathPreview       = "/api-addons/admin/preview"
	pathHealth        = "/api-addons/admin/health"
	pathAudit         = "/api-addons/admin/audit"
	pathUsers         = "/admincp/users"
	pathDismiss       = PathCredentials + "/dismiss"
)

// Options configures the pages.
type Options struct {
	Addon *addon.Addon
	// Frame is made from [FrameOptions], with what only the caller knows added.
	Frame *frame.Frame
}

// Pages are the handlers.
type Pages struct {
	addon *addon.Addon
	frame *frame.Frame
}

// admin serves a page to somebody who is signed in. While an update of the tables
// is due, no other page can work, so all lead there.
func (p *Pages) admin(h frame.Handler) http.Handler {
	return p.frame.Admin(p.upToDate(h))
}

// adminFile is admin for a file instead of a page.
func (p *Pages) adminFile(h frame.Handler) http.Handler {
	return p.frame.AdminFile(p.upToDate(h))
}

func (p *Pages) upToDate(h frame.Handler) frame.Handler {
	return func(w http.ResponseWriter, r *frame.Request) error {
		if p.addon.State() == access.StateOutdated {
			return p.frame.Redirect(w, r, PathUpdate, "A new version was installed. Run the update to continue.")
		}
		return h(w, r)
	}
}

// found serves what the address names: find reads it for h.
func found[T any](find func(*frame.Request) (T, error), h func(http.ResponseWriter, *frame.Request, T) error) frame.Handler {
	return func(w http.ResponseWriter, r *frame.Request) error {
		thing, err := find(r)
		if err != nil {
			return err
		}
		return h(w, r, thing)
	}
}

// number reads a positive number of the address; anything else leads nowhere.
func number(r *frame.Request, name string) (int64, error) {
	n, err := strconv.ParseInt(r.PathValue(name), 10, 64)
	if err != nil || n <= 0 {
		return 0, fault.NotFound(countersign.CodeNotFound, "")
	}
	return n, nil
}

// address is the whole URL of a path of ours, as apps and phones reach it.
func (p *Pages) address(w http.ResponseWriter, r *frame.Request, path string) string {
	return p.frame.Address(w, r, path)
}

// crumbs lead from the dashboard to a page.
func crumbs(links ...frame.Link) []frame.Link {
	return append([]frame.Link{{Label: "Dashboard", Path: PathDashboard}}, links...)
}
