package api

import (
	"net/http"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/store/validation"
	"github.com/countersign/countersign/internal/web"
)

// getAccount answers GET /api/account/details (spec 4.1).
func (f *frontEnd) getAccount(w http.ResponseWriter, r *http.Request) error {
	_, access, err := f.authenticated(w, r)
	if err != nil {
		return err
	}
	account, err := f.store.Validation.Account(r.Context(), access.Actor)
	if err != nil {
		return fault.Public(err)
	}
	if err := f.withinQuota(w, access); err != nil {
		return err
	}
	body, err := validation.AccountBody(account, f.base(r))
	if err != nil {
		return err
	}
	return web.Cached(w, r, body)
}
