package api

import (
	"context"
	"net/http"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/web"
)

// errUpdateToken is what everybody is told who may not run the update: the command
// to run, and nothing about the installation.
var errUpdateToken = fault.Forbidden("update_token", "The update needs a signed-in administrator, the set-up link, or a fresh token in X-Update-Token: countersign addon update --web-token. Or run it from a terminal: countersign addon update")

// planUpdate answers GET /api-addons/update.php: what an update would do. It
// changes nothing.
func (f *face) planUpdate(w http.ResponseWriter, r *http.Request) error {
	actor, err := f.updater(w, r, f.addon.CheckWebToken)
	if err != nil {
		return f.failed(w, err)
	}
	plan, err := f.addon.Plan(r.Context(), actor)
	if err != nil {
		return err
	}
	return web.OK(w, r, "data", plan)
}

// runUpdate answers POST /api-addons/update.php. The update goes on to its end when
// the caller has left, and may take longer than other answers.
func (f *face) runUpdate(w http.ResponseWriter, r *http.Request) error {
	actor, err := f.updater(w, r, f.addon.UseWebToken)
	if err != nil {
		return f.failed(w, err)
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // without it, a slow update loses its answer at worst
	report, err := f.addon.Update(context.WithoutCancel(r.Context()), actor, nil)
	if err != nil {
		return err
	}
	return web.OK(w, r, "data", report)
}

// updater is who may run the update: who came with a token, which check accepts, or
// with the token of the set-up link, or is signed in.
func (f *face) updater(w http.ResponseWriter, r *http.Request, check func(context.Context, string) error) (people.Actor, error) {
	if token := r.Header.Get("X-Update-Token"); token != "" {
		return f.tokenHolder(w, r, token, check)
	}
	if !f.addon.Installed() {
		return people.Actor{}, errUpdateToken
	}
	actor, signedIn, err := f.visitor(w, r)
	if err == nil && !signedIn {
		err = errUpdateToken
	}
	return actor, fault.Public(err)
}

// tokenHolder is somebody with a token that was printed to the operator.
func (f *face) tokenHolder(w http.ResponseWriter, r *http.Request, token string, check func(context.Context, string) error) (people.Actor, error) {
	name, err := "update token", check(r.Context(), token)
	if fault.HasKind(err, countersign.KindForbidden) {
		name, err = "set-up link", f.addon.CheckSetupLink(r.Context(), token)
	}
	if fault.HasKind(err, countersign.KindForbidden) || fault.HasKind(err, countersign.KindConflict) {
		err = errUpdateToken
	}
	if err != nil {
		return people.Actor{}, fault.Public(err)
	}
	return people.Actor{Kind: people.KindOperator, ID: name, Face: people.FaceAPI, Addr: web.ClientAddr(w)}, nil
}
