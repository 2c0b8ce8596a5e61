package api

import (
	"net/http"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/web"
)

// mergeUsers answers POST /api-addons/iap/users/merge: everything of a user is another one's from
// now on.
func (f *frontEnd) mergeUsers(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		From string `json:"from_user_id"`
		To   string `json:"to_user_id"`
	}
	actor, err := f.site(w, r, &in)
	if err != nil {
		return err
	}
	m, err := f.addon.Members.Merge(r.Context(), actor, in.From, in.To)
	if err != nil {
		return publicPurchase(err)
	}
	return web.OK(w, r, "merge", countersign.IAPMerge{
		FromUserID: in.From, ToUserID: in.To, Purchases: m.Purchases, Grants: m.Grants, Membership: m.Membership,
	})
}

// eraseUser answers DELETE /api-addons/iap/users/{user}: the user's data is deleted, and purchases
// become anonymous.
func (f *frontEnd) eraseUser(w http.ResponseWriter, r *http.Request) error {
	actor, err := f.site(w, r, nil)
	if err != nil {
		return err
	}
	p, err := web.ReadParams(w, r, "force")
	if err != nil {
		return err
	}
	force, given := p.Get("force")
	if given && force != "1" && force != "0" {
		return fault.Invalid(codeInvalidRequest, "force is 0 or 1")
	}
	user := r.PathValue("user")
	e, err := f.addon.Members.Erase(r.Context(), actor, user, force == "1")
	if err != nil {
		return publicPurchase(err)
	}
	return web.OK(w, r, "erasure", countersign.IAPErasure{UserID: user, Purchases: e.Purchases, Grants: e.Grants})
}
