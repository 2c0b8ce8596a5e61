package frame

import (
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/countersign/countersign/internal/web"
)

// New creates a frame. It starts nothing.
func New(o Options) (*Frame, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	f := &Frame{Options: o, edge: web.NewEdge(web.Options{Log: o.Log, Now: o.Now, ErrorBody: web.DetailedBody}), drafts: newDrafts()}
	f.origins = http.NewCrossOriginProtection()
	if o.Origin != "" {
		if err := f.origins.AddTrustedOrigin(o.Origin); err != nil {
			return nil, fmt.Errorf("frame: the origin of the base URL: %w", err)
		}
	}
	f.sessions = f.newSessions()
	var err error
	f.assets, err = loadAssets(f.siblingPath("assets"))
	if err != nil {
		return nil, fmt.Errorf("frame: %w", err)
	}
	return f, nil
}

// Routes adds the shared pages and the assets. The other shared pages stand in
// the folder of the sign-in page, those of the user in Account, and those of all
// administrators in users beside the sign-in page.
func (f *Frame) Routes(mux *http.ServeMux) {
	mux.Handle("GET "+f.siblingPath("assets")+"/{hash}/{file}", f.edge.Wrap(f.assets.serve))
	f.docsRoutes(mux, "")
	if f.DocsFolder != "" {
		f.docsRoutes(mux, f.DocsFolder)
	}
	if f.People == nil {
		return
	}

	mux.Handle("GET "+f.SignIn, f.Public(f.showSignIn))
	mux.Handle("POST "+f.SignIn, f.Public(f.onceInstalled(f.signIn)))
	mux.Handle("GET "+f.siblingPath("2fa"), f.Public(f.onceInstalled(f.showCode)))
	mux.Handle("POST "+f.siblingPath("2fa"), f.Public(f.onceInstalled(f.signInCode)))
	mux.Handle("GET "+f.siblingPath("link"), f.Public(f.onceInstalled(f.showLink)))
	mux.Handle("POST "+f.siblingPath("link"), f.Public(f.onceInstalled(f.signInByLink)))
	mux.Handle("GET "+f.siblingPath("setup"), f.Public(f.showSetup))
	mux.Handle("POST "+f.siblingPath("setup"), f.Public(f.onceInstalled(f.setup)))
	mux.Handle("GET "+f.siblingPath("logout"), f.Public(f.To(f.Home)))
	mux.Handle("POST "+f.siblingPath("logout"), f.Public(f.onceInstalled(f.signOut)))

	users := f.users()
	mux.Handle("GET "+users, f.Admin(f.showUsers))
	mux.Handle("POST "+users, f.Admin(f.inviteUser))
	mux.Handle("GET "+users+"/new", f.Admin(f.showNewUser))
	mux.Handle("GET "+users+"/{id}", f.Admin(f.onUser(f.showUser)))
	mux.Handle("POST "+users+"/{id}", f.Admin(f.onUser(f.renameUser)))
	mux.Handle("GET "+users+"/{id}/link", f.Admin(f.onUser(f.linkUser)))
	mux.Handle("POST "+users+"/{id}/link", f.Admin(f.onUser(f.linkUser)))
	mux.Handle("GET "+users+"/{id}/deactivate", f.Admin(f.onUser(f.deactivateUser)))
	mux.Handle("POST "+users+"/{id}/deactivate", f.Admin(f.onUser(f.deactivateUser)))
	mux.Handle("GET "+users+"/{id}/activate", f.Admin(f.onUser(f.activateUser)))
	mux.Handle("POST "+users+"/{id}/activate", f.Admin(f.onUser(f.activateUser)))
	mux.Handle("GET "+users+"/{id}/remove", f.Admin(f.onUser(f.removeUser)))
	mux.Handle("POST "+users+"/{id}/remove", f.Admin(f.onUser(f.removeUser)))

	security, sessions := f.security(), f.Account+"/sessions"
	mux.Handle("GET "+f.Account, f.Admin(f.To(security)))
	mux.Handle("GET "+security, f.Admin(f.showSecurity))
	mux.Handle("GET "+security+"/password", f.Admin(f.To(security)))
	mux.Handle("POST "+security+"/password", f.Admin(f.changePassword))
	mux.Handle("GET "+security+"/totp", f.Admin(f.beginTOTP))
	mux.Handle("POST "+security+"/totp", f.Admin(f.beginTOTP))
	mux.Handle("GET "+security+"/totp/confirm", f.Admin(f.To(security)))
	mux.Handle("POST "+security+"/totp/confirm", f.Admin(f.confirmTOTP))
	mux.Handle("GET "+security+"/totp/off", f.Admin(f.disableTOTP))
	mux.Handle("POST "+security+"/totp/off", f.Admin(f.disableTOTP))
	mux.Handle("GET "+security+"/codes", f.Admin(f.newCodes))
	mux.Handle("POST "+security+"/codes", f.Admin(f.newCodes))
	mux.Handle("GET "+sessions, f.Admin(f.showSessions))
	mux.Handle("POST "+sessions+"/end", f.Admin(f.endOtherSessions))
	mux.Handle("POST "+sessions+"/{id}/end", f.Admin(f.endSession))
}

func (f *Frame) docsRoutes(mux *http.ServeMux, folder string) {
	mux.Handle("GET "+folder+"/licenses", f.edge.Wrap(f.showLicenses))
	if f.Documentation != nil {
		mux.Handle("GET "+folder+"/docs", f.Public(f.showDocs))
		mux.Handle("GET "+folder+"/docs/{manual}", f.Public(f.showManual))
		mux.Handle("GET "+folder+"/docs/api", f.Public(f.showReference))
	}
}

// To leads to another page, for addresses that answer a form alone and that
// somebody loads again.
func (f *Frame) To(path string) Handler {
	return func(w http.ResponseWriter, r *Request) error { return f.Redirect(w, r, path, "") }
}

// onceInstalled keeps a shared page from asking People before there are tables.
func (f *Frame) onceInstalled(h Handler) Handler {
	return func(w http.ResponseWriter, r *Request) error {
		if !f.installed() {
			return f.Redirect(w, r, f.siblingPath("setup"), "")
		}
		return h(w, r)
	}
}
