package api

import (
	"errors"
	"net/http"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/store/validation"
	"github.com/countersign/countersign/internal/web"
)

// authenticated reads a request's parameters and finds the key among them: in
// Authorization, X-Api-Key, the body or the query (spec 5.4, decided). What
// follows is answered as the key's workspace wishes.
func (f *frontEnd) authenticated(w http.ResponseWriter, r *http.Request, names ...string) (*web.Params, validation.Access, error) {
	p, key, err := readParams(w, r, names)
	if err != nil {
		return nil, validation.Access{}, err
	}
	access, err := f.identified(w, r, p, key)
	return p, access, err
}

// readParams reads a request's parameters and its key. The pages of other origins see the error of one that can't be read
// only beside a publishable key in a header: it may have a secret one in another place.
func readParams(w http.ResponseWriter, r *http.Request, names []string) (p *web.Params, key string, err error) {
	if p, err = web.ReadParams(w, r, "api_key", names...); err == nil {
		key, err = sentKey(r, p)
	}
	if err == nil {
		return p, key, nil
	}
	if alone, unclear := sentKey(r, new(web.Params)); unclear != nil || alone == "" || !maybePublic(alone) {
		web.Unshare(w)
	}
	return nil, "", keyConflict(err)
}

// identified finds a key that was sent.
func (f *frontEnd) identified(w http.ResponseWriter, r *http.Request, p *web.Params, key string) (validation.Access, error) {
	access, err := f.authenticate(r, w, key)
	if access.Actor.Secret || err != nil && !maybePublic(key) {
		web.Unshare(w)
	}
	if err != nil {
		return validation.Access{}, err
	}
	web.Annotate(w, access.Actor.ID)
	if access.Switches.Always200 {
		web.Always200(w)
	}
	if inQuery, _ := p.Get("api_key"); access.Switches.RefuseQueryKeys && inQuery != "" && p.InQuery("api_key") {
		return validation.Access{}, fault.Forbidden(countersign.CodeKeyInQuery, countersign.MsgInvalidRequest)
	}
	return access, nil
}

// maybePublic reports whether a key that was not found may have been publishable. A missing one is not secret either.
func maybePublic(key string) bool { return key == "" || strings.HasPrefix(key, "csp_") }

// authenticate finds the key and counts failures by address.
func (f *frontEnd) authenticate(r *http.Request, w http.ResponseWriter, key string) (validation.Access, error) {
	if key == "" {
		return validation.Access{}, f.limits.Failed(w, fault.Unauthorized(countersign.CodeKeyMissing, countersign.MsgInvalidRequest))
	}
	access, err := f.store.Validation.Authenticate(r.Context(), key, web.ClientAddr(w))
	about := web.SubjectOf(w)
	about.Key, about.Workspace = access.KeyID, access.Workspace
	if err != nil {
		return validation.Access{}, f.limits.Failed(w, fault.Public(err))
	}
	return access, nil
}

// withinQuota counts a success of a workspace that has a quota.
func (f *frontEnd) withinQuota(w http.ResponseWriter, a validation.Access) error {
	id, quota := a.Actor.Workspace, int(a.Switches.Quota)
	if quota == 0 || f.quotas.Take(id, quota) {
		return nil
	}
	return web.Refuse(w, countersign.CodeQuotaExceeded, quota, 0, f.quotas.Retry(id))
}

// sentKey is the one key of a request, "" when there is none. Two different
// ones are refused.
func sentKey(r *http.Request, p *web.Params) (string, error) {
	key, _ := p.Get("api_key")
	key = strings.TrimSpace(key)
	if p.IsNumber("api_key") {
		return "", badBody()
	}
	add := func(other string) error {
		switch {
		case other == "" || other == key:
			return nil
		case key == "":
			key = other
			return nil
		}
		return fault.Invalid(countersign.CodeKeyConflict, countersign.MsgInvalidRequest)
	}
	for _, value := range r.Header["X-Api-Key"] {
		if err := add(strings.TrimSpace(value)); err != nil {
			return "", err
		}
	}
	for _, value := range r.Header["Authorization"] {
		if err := add(web.BearerToken(value)); err != nil {
			return "", err
		}
	}
	return key, nil
}

// keyConflict sets for two different api_key parameters the code of two different keys.
func keyConflict(err error) error {
	var conflict *web.ConflictError
	if !errors.As(err, &conflict) || conflict.Name != "api_key" {
		return err
	}
	return fault.WithCause(fault.Invalid(countersign.CodeKeyConflict, countersign.MsgInvalidRequest), err)
}

func badBody() error {
	return fault.Invalid(countersign.CodeBadBody, countersign.MsgInvalidRequest)
}
