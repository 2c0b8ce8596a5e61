package api

import (
	"net/http"
	"strconv"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/membership"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/web"
)

// listGrants answers GET /api-addons/iap/users/{user}/grants: those that have ended too.
func (f *frontEnd) listGrants(w http.ResponseWriter, r *http.Request) error {
	actor, err := f.site(w, r, nil)
	if err != nil {
		return err
	}
	grants, err := f.addon.Members.Grants(r.Context(), actor, r.PathValue("user"))
	if err != nil {
		return publicPurchase(err)
	}
	return web.OK(w, r, "grants", sqldb.Convert(grants, printGrant))
}

// addGrant answers POST /api-addons/iap/users/{user}/grants: a membership that the site grants.
func (f *frontEnd) addGrant(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Package int64      `json:"package_id"`
		Until   *time.Time `json:"until"`
		Reason  string     `json:"reason"`
	}
	actor, err := f.site(w, r, &in)
	if err != nil {
		return err
	}
	var until time.Time
	if in.Until != nil {
		until = *in.Until
	}
	g, err := f.addon.Members.AddGrant(r.Context(), actor, r.PathValue("user"), in.Package, until, in.Reason)
	if err != nil {
		return publicPurchase(err)
	}
	return web.OK(w, r, "grant", printGrant(g))
}

// removeGrant answers DELETE /api-addons/iap/users/{user}/grants/{grant}: the grant ends now.
func (f *frontEnd) removeGrant(w http.ResponseWriter, r *http.Request) error {
	actor, err := f.site(w, r, nil)
	if err != nil {
		return err
	}
	id, err := strconv.ParseInt(r.PathValue("grant"), 10, 64)
	if err != nil {
		return fault.NotFound("not_found", "No such grant")
	}
	g, err := f.addon.Members.EndGrant(r.Context(), actor, r.PathValue("user"), id)
	if err != nil {
		return publicPurchase(err)
	}
	return web.OK(w, r, "grant", printGrant(g))
}

func printGrant(g membership.Grant) countersign.IAPGrant {
	printed := countersign.IAPGrant{
		ID: g.ID, UserID: g.User, PackageID: g.Package, Reason: g.Reason, GrantedBy: g.By, CreatedAt: countersign.At(g.CreatedAt),
		Until: timestamp(g.EndsAt), EndedAt: timestamp(g.EndedAt),
	}
	if g.EndedBy != "" {
		printed.EndedBy = &g.EndedBy
	}
	return printed
}

// timestamp is a time as JSON has it, nil for the zero time.
func timestamp(t time.Time) *countersign.Timestamp {
	if t.IsZero() {
		return nil
	}
	printed := countersign.At(t)
	return &printed
}
