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

// planUpdate answers GET /api-addons/update.php: what an update would do. It
// changes nothing.
func (f *frontEnd) planUpdate(w http.ResponseWriter, r *http.Request) error {
	actor, err := f.updater(w, r, false)
	if err != nil {
		return f.failed(w, err)
	}
	plan, err := f.addon.Setup.Plan(r.Context(), actor)
	if err != nil {
		return err
	}
	return web.OK(w, r, "data", plan)
}

// runUpdate handles POST /api-addons/update.php. The update continues if the caller
// disconnects, and may take longer than other requests.
func (f *frontEnd) runUpdate(w http.ResponseWriter, r *http.Request) error {
	actor, err := f.updater(w, r, true)
	if err != nil {
		return f.failed(w, err)
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // without it, a slow update loses its answer at worst
	report, err := f.addon.Setup.Update(context.WithoutCancel(r.Context()), actor, nil)
	if err != nil {
		return err
	}
	return web.OK(w, r, "data", report)
}

// updater returns the actor who may see and run the update: the holder of a token, or a
// signed-in user. run uses up a one-time token.
func (f *frontEnd) updater(w http.ResponseWriter, r *http.Request, run bool) (people.Actor, error) {
	if token := r.Header.Get("X-Update-Token"); token != "" {
		return f.tokenHolder(w, r, token, run)
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
func (f *frontEnd) tokenHolder(w http.ResponseWriter, r *http.Request, token string, run bool) (people.Actor, error) {
	holder, err := f.addon.Setup.TokenHolder(r.Context(), token, people.FrontEndAPI, web.ClientAddr(w))
	if err == nil && run && holder.Once {
		err = f.addon.Setup.UseWebToken(r.Context(), token)
	}
	if fault.HasKind(err, countersign.KindForbidden) || fault.HasKind(err, countersign.KindConflict) {
		err = errUpdateToken
	}
	return holder.Actor, fault.Public(err)
}
