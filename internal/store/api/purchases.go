package api

import (
	"net/http"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/store/validation"
	"github.com/countersign/countersign/internal/web"
)

// validatePurchase handles POST /api/purchases/validation (spec 4.4). Publishable keys
// are public, so their sender may be guessing: over the limit they are refused even
// with a valid code. A secret key with a valid code succeeds.
func (f *frontEnd) validatePurchase(w http.ResponseWriter, r *http.Request) error {
	p, access, err := f.authenticated(w, r, "purchase_code")
	if err != nil {
		return err
	}
	if p.IsNumber("purchase_code") {
		return badBody()
	}
	if err := f.admit(w, access); err != nil {
		return err
	}
	code, _ := p.Get("purchase_code")
	valid, err := f.store.Validation.Validate(r.Context(), access.Actor, code)
	about := web.SubjectOf(w)
	about.Purchase, about.Item = valid.PurchaseID, valid.ItemID
	if err != nil {
		return f.limits.Failed(w, fault.Public(err))
	}
	if err := f.admit(w, access); err != nil { // others of the same client may have failed meanwhile
		return err
	}
	if err := f.withinQuota(w, access); err != nil {
		return err
	}
	web.Success(w, "data", `{"purchase":`, valid.Before, f.printed(r, valid.Item), valid.After, "}")
	return nil
}

// admit refuses a client that is past its limit and has no secret key.
func (f *frontEnd) admit(w http.ResponseWriter, a validation.Access) error {
	if a.Actor.Secret {
		return nil
	}
	return f.limits.Admit(w)
}
