package api

import (
	"net/http"

	"github.com/countersign/countersign/internal/web"
)

// validatePurchase answers POST /api/purchases/validation (spec 4.4).
func (f *face) validatePurchase(w http.ResponseWriter, r *http.Request) error {
	p, access, err := f.authenticated(w, r, "purchase_code")
	if err != nil {
		return err
	}
	if p.IsNumber("purchase_code") {
		return badBody()
	}
	code, _ := p.Get("purchase_code")
	valid, err := f.store.ValidatePurchase(r.Context(), access.Actor, code)
	if err != nil {
		return f.guard.Failed(w, public(err))
	}
	if err := f.withinQuota(w, access); err != nil {
		return err
	}
	web.Raw(w, `{"status":"success","data":{"purchase":`, valid.Before, valid.ItemBody, valid.After, "}}")
	return nil
}
