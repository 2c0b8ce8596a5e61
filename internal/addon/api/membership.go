package api

import (
	"cmp"
	"net/http"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/membership"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/web"
)

// getMembership answers GET /api-addons/iap/membership: what the user of an app has, with
// ?token=1 signed for an app without a connection.
func (f *frontEnd) getMembership(w http.ResponseWriter, r *http.Request) error {
	app, err := f.appUser(w, r)
	if err != nil {
		return err
	}
	p, err := web.ReadParams(w, r, "token")
	if err != nil {
		return err
	}
	switch token, _ := p.Get("token"); token {
	case "", "0":
		read, err := f.addon.Members.Membership(r.Context(), app.ID)
		return writeMembership(w, r, read, err)
	case "1":
		return f.getSignedMembership(w, r, app.ID)
	}
	return fault.Invalid(codeInvalidRequest, "token is 1 or 0")
}

// getUserMembership answers GET /api-addons/iap/users/{user}/membership for the site.
func (f *frontEnd) getUserMembership(w http.ResponseWriter, r *http.Request) error {
	actor, err := f.site(w, r, nil)
	if err != nil {
		return err
	}
	read, err := f.addon.Members.MembershipFor(r.Context(), actor, r.PathValue("user"))
	return writeMembership(w, r, read, err)
}

func writeMembership(w http.ResponseWriter, r *http.Request, read membership.Read, err error) error {
	if err != nil {
		return publicPurchase(err)
	}
	return web.ServePrepared(w, r, read.Answer)
}

func (f *frontEnd) getSignedMembership(w http.ResponseWriter, r *http.Request, user string) error {
	read, err := f.addon.Members.SignedMembership(r.Context(), f.issuer(w, r), user)
	if err != nil {
		return publicPurchase(err)
	}
	return web.Tagged(w, r, read.ETag, struct {
		Status     string                    `json:"status"`
		Membership countersign.IAPMembership `json:"membership"`
	}{"success", read.Membership})
}

// listKeys answers GET /api-addons/iap/keys: the key set with which apps check membership tokens.
func (f *frontEnd) listKeys(w http.ResponseWriter, r *http.Request) error {
	if err := f.installed(r); err != nil {
		return err
	}
	keys, err := f.addon.Members.PublicKeys(r.Context())
	if err != nil {
		return publicPurchase(err)
	}
	return web.Cached(w, r, keys)
}

// issuer is the site's address, which membership tokens name.
func (f *frontEnd) issuer(w http.ResponseWriter, r *http.Request) string {
	return cmp.Or(f.BaseURL, web.BaseURL(w, r))
}
