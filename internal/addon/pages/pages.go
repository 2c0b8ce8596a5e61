// Package pages is the face of the addon for people: the dashboard, the settings
// of the app and of in-app purchases, packages, license files, credentials,
// history, preview, update, health and audit. Every page works without scripts; a form that was
// done leads on by 303, one that was refused is shown again with 422.
package pages

//go:generate go tool templ generate

import (
	"context"
	"net/http"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/web"
)

// The pages' addresses that other rooms need to know.
const (
	PathDashboard   = "/api-addons/admin"
	PathAppSettings = "/api-addons/admin/app/settings"
	PathUpdate      = "/api-addons/update.php"
	PathCredentials = "/admincp/apis"
	PathSignIn      = "/admincp/login"
	PathAccount     = "/admincp/me"
)

// Options says what the pages stand on.
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
		People: a.People(), Installed: a.Installed, Known: known(a), Brand: "Countersign addon", Command: "countersign addon",
		Home: PathDashboard, SignIn: PathSignIn, Account: PathAccount, UpdatePage: PathUpdate, SetupFile: addon.SetupFile,
		Menu: menu(), CheckupBanner: func(r *frame.Request) []frame.Banner { return pairBanner(r, a) },
	}
}

// known is an error until somebody could look how far the addon is set up.
func known(a *addon.Addon) func() error {
	return func() error {
		if a.State() != "" {
			return nil
		}
		return a.Ready(context.Background())
	}
}

func menu() []frame.MenuItem {
	return []frame.MenuItem{
		{Label: "Dashboard", Path: PathDashboard, Icon: "layout-dashboard"},
		{Label: "App settings", Path: PathAppSettings, Icon: "sliders-horizontal", Group: "App"},
		{Label: "In-app purchases", Path: pathIAP, Icon: "credit-card", Group: "App"},
		{Label: "Packages", Path: pathPackages, Icon: "package", Group: "App"},
		{Label: "License file", Path: pathLicense, Icon: "file-key", Group: "App"},
		{Label: "Preview", Path: pathPreview, Icon: "eye", Group: "App"},
		{Label: "History", Path: pathHistory, Icon: "history", Group: "App"},
		{Label: "API access", Path: PathCredentials, Icon: "key-round", Group: "Server"},
		{Label: "Update", Path: PathUpdate, Icon: "refresh-cw", Group: "Server"},
		{Label: "Health", Path: pathHealth, Icon: "heart-pulse", Group: "Server"},
		{Label: "Audit log", Path: pathAudit, Icon: "scroll-text", Group: "Server"},
	}
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
		if p.addon.State() == addon.StateOutdated {
			return p.frame.Redirect(w, r, PathUpdate, "A new version was installed. Run the update; then everything works again.")
		}
		return h(w, r)
	}
}

// to leads to another page.
func (p *Pages) to(path string) frame.Handler {
	return func(w http.ResponseWriter, r *frame.Request) error { return p.frame.Redirect(w, r, path, "") }
}

// refuse shows a form again because of err; nil is an answer that was missing.
func (p *Pages) refuse(w http.ResponseWriter, r *frame.Request, page frame.Page, err error) error {
	page.Status = http.StatusUnprocessableEntity
	if err != nil {
		page.Status = frame.FormStatus(err)
	}
	return p.frame.Show(w, r, page)
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
	origin := p.frame.Origin
	if origin == "" {
		origin = web.BaseURL(w, r.Request)
	}
	return origin + p.frame.URL(path)
}

// crumbs lead from the dashboard to a page.
func crumbs(links ...frame.Link) []frame.Link {
	return append([]frame.Link{{Label: "Dashboard", Path: PathDashboard}}, links...)
}
