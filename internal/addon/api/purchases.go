package api

import (
	"context"
	"net/http"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/web"
)

// maxPage is how many purchases a page has at most.
const maxPage = 100

// listPurchases answers GET /api-addons/iap/purchases: the purchases of the user of an app.
func (f *frontEnd) listPurchases(w http.ResponseWriter, r *http.Request) error {
	app, err := f.appUser(w, r)
	if err != nil {
		return err
	}
	return writePurchases(w, r, func(cursor string, limit int) ([]countersign.IAPPurchase, string, error) {
		return f.addon.Members.Purchases(r.Context(), app.ID, cursor, limit)
	})
}

// listUserPurchases answers GET /api-addons/iap/users/{user}/purchases for the site.
func (f *frontEnd) listUserPurchases(w http.ResponseWriter, r *http.Request) error {
	actor, err := f.site(w, r, nil)
	if err != nil {
		return err
	}
	return writePurchases(w, r, func(cursor string, limit int) ([]countersign.IAPPurchase, string, error) {
		return f.addon.Members.PurchasesFor(r.Context(), actor, r.PathValue("user"), cursor, limit)
	})
}

// writePurchases answers with a page of purchases.
func writePurchases(w http.ResponseWriter, r *http.Request, list func(cursor string, limit int) ([]countersign.IAPPurchase, string, error)) error {
	p, err := web.ReadParams(w, r, "cursor", "limit")
	if err != nil {
		return err
	}
	limit, err := number(p, "limit", maxPage, 1, maxPage)
	if err != nil {
		return err
	}
	cursor, _ := p.Get("cursor")
	purchases, next, err := list(cursor, int(limit))
	if err != nil {
		return publicPurchase(err)
	}
	page := countersign.IAPPurchases{Purchases: purchases}
	if next != "" {
		page.Next = &next
	}
	return web.Object(w, struct {
		Status string `json:"status"`
		countersign.IAPPurchases
	}{"success", page})
}

// number reads a whole number from the parameters, and returns otherwise when it is absent.
func number(p *web.Params, name string, otherwise, least, most int64) (int64, error) {
	text, given := p.Get(name)
	if !given {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		return 0, fault.Invalid(codeInvalidRequest, name+" is a whole number from "+strconv.FormatInt(least, 10)+" to "+strconv.FormatInt(most, 10))
	}
	return n, nil
}

// refreshPurchase answers POST /api-addons/iap/purchases/{purchase}/refresh: the purchase is read
// from the store again.
func (f *frontEnd) refreshPurchase(w http.ResponseWriter, r *http.Request) error {
	return f.actOnPurchase(w, r, &struct{}{}, f.addon.Members.Refresh)
}

// transferPurchase answers POST /api-addons/iap/purchases/{purchase}/transfer: it belongs to
// another user from now on.
func (f *frontEnd) transferPurchase(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		To     string `json:"to_user_id"`
		Reason string `json:"reason"`
	}
	return f.actOnPurchase(w, r, &in, func(ctx context.Context, a people.Actor, name string) (countersign.IAPPurchase, error) {
		return f.addon.Members.Transfer(ctx, a, name, in.To, in.Reason)
	})
}

// refusePurchase answers POST /api-addons/iap/purchases/{purchase}/refuse: a user who claims it is
// not its owner.
func (f *frontEnd) refusePurchase(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		User   string `json:"user_id"`
		Reason string `json:"reason"`
	}
	return f.actOnPurchase(w, r, &in, func(ctx context.Context, a people.Actor, name string) (countersign.IAPPurchase, error) {
		return f.addon.Members.RefuseOwner(ctx, a, name, in.User, in.Reason)
	})
}

// cancelPurchase answers POST /api-addons/iap/purchases/{purchase}/cancel: the store renews it no
// more.
func (f *frontEnd) cancelPurchase(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Final bool `json:"final"`
	}
	return f.actOnPurchase(w, r, &in, func(ctx context.Context, a people.Actor, name string) (countersign.IAPPurchase, error) {
		return f.addon.Members.Cancel(ctx, a, name, in.Final)
	})
}

// revokePurchase answers POST /api-addons/iap/purchases/{purchase}/revoke: the store refunds it and
// ends it now.
func (f *frontEnd) revokePurchase(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Prorated bool `json:"prorated"`
	}
	return f.actOnPurchase(w, r, &in, func(ctx context.Context, a people.Actor, name string) (countersign.IAPPurchase, error) {
		return f.addon.Members.Revoke(ctx, a, name, in.Prorated)
	})
}

// deferPurchase answers POST /api-addons/iap/purchases/{purchase}/defer: the store renews it later.
func (f *frontEnd) deferPurchase(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Days int `json:"days"`
	}
	return f.actOnPurchase(w, r, &in, func(ctx context.Context, a people.Actor, name string) (countersign.IAPPurchase, error) {
		return f.addon.Members.Defer(ctx, a, name, in.Days)
	})
}

// actOnPurchase has the site do something with a purchase, and answers with the purchase. in gets
// the members of the body before.
func (f *frontEnd) actOnPurchase(w http.ResponseWriter, r *http.Request, in any, act func(context.Context, people.Actor, string) (countersign.IAPPurchase, error)) error {
	actor, err := f.site(w, r, in)
	if err != nil {
		return err
	}
	withoutReadDeadline(w)
	purchase, err := act(r.Context(), actor, r.PathValue("purchase"))
	if err != nil {
		return publicPurchase(err)
	}
	return web.OK(w, r, "purchase", purchase)
}
