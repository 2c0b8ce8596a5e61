package api

import (
	"net/http"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/web"
)

// issueLicense answers POST /api/licenses. The purchase code is the credential.
func (f *face) issueLicense(w http.ResponseWriter, r *http.Request) error {
	p, code, err := f.codeOf(w, r, "domain")
	if err != nil {
		return err
	}
	domain, _ := p.Get("domain")
	l, err := f.store.IssueLicense(r.Context(), buyer(w), f.baseURL, code, domain)
	return f.answerLicense(w, r, l, err)
}

// moveLicense answers POST /api/licenses/move.
func (f *face) moveLicense(w http.ResponseWriter, r *http.Request) error {
	p, code, err := f.codeOf(w, r, "domain", "from")
	if err != nil {
		return err
	}
	domain, _ := p.Get("domain")
	from, _ := p.Get("from")
	l, err := f.store.MoveLicense(r.Context(), buyer(w), f.baseURL, code, from, domain)
	return f.answerLicense(w, r, l, err)
}

func (f *face) answerLicense(w http.ResponseWriter, r *http.Request, l store.SignedLicense, err error) error {
	if err != nil {
		return f.guard.Failed(w, public(err))
	}
	return web.OK(w, r, "data", countersign.License{License: l.Text, LicenseID: l.License.ID})
}

// revokeLicense answers POST /api/licenses/revoke: the buyer gives a license up.
func (f *face) revokeLicense(w http.ResponseWriter, r *http.Request) error {
	p, code, err := f.codeOf(w, r, "domain", "license_id")
	if err != nil {
		return err
	}
	domain, _ := p.Get("domain")
	id, _ := p.Get("license_id")
	l, err := f.store.GiveUpLicense(r.Context(), buyer(w), code, domain, id)
	if err != nil {
		return f.guard.Failed(w, public(err))
	}
	return web.OK(w, r, "data", countersign.LicenseRevocation{LicenseID: l.License.ID, Domain: l.Domain, RevokedAt: l.EndedAt})
}

// checkLicense answers POST /api/licenses/check. A key may be given, and then it
// must be a good one: the workspace's secret keys are told what became of a
// purchase.
func (f *face) checkLicense(w http.ResponseWriter, r *http.Request) error {
	names := []string{"purchase_code", "license_id", "domain", "item_id"}
	p, err := web.ReadParams(w, r, append(names, "api_key")...)
	if err != nil {
		return keyConflict(err)
	}
	actor, err := f.asker(w, r, p)
	if err != nil {
		return err
	}
	if p.IsNumber("purchase_code") || p.IsNumber("license_id") || p.IsNumber("domain") {
		return badBody()
	}
	var q store.LicenseQuestion
	for i, to := range []*string{&q.Code, &q.ID, &q.Domain, &q.Item} {
		*to, _ = p.Get(names[i])
	}
	if err := f.guard.TakeCode(w, "check", q.Code+" "+q.ID); err != nil {
		return err
	}
	answer, err := f.store.CheckLicense(r.Context(), actor, q)
	if err != nil {
		return public(err)
	}
	if answer.Code == countersign.CheckNotFound {
		if err := f.guard.Failed(w, notFound); err != notFound {
			return err
		}
	}
	return web.OK(w, r, "data", answer)
}

// notFound is counted like a failed validation, and not written.
var notFound error = &countersign.Error{Kind: countersign.KindNotFound, Code: countersign.CodePurchaseNotFound}

// asker is who asks about a license: the key that was sent, else whoever holds the
// code.
func (f *face) asker(w http.ResponseWriter, r *http.Request, p *web.Params) (people.Actor, error) {
	key, err := sentKey(r, p)
	if err != nil || key == "" {
		return buyer(w), err
	}
	access, err := f.identified(w, r, p, key)
	return access.Actor, err
}

func buyer(w http.ResponseWriter) people.Actor {
	return people.Buyer(people.FaceAPI, web.ClientAddr(w))
}

// codeOf reads the parameters of a request whose credential is a purchase code.
func (f *face) codeOf(w http.ResponseWriter, r *http.Request, names ...string) (*web.Params, string, error) {
	p, err := web.ReadParams(w, r, append(names, "purchase_code")...)
	if err != nil {
		return nil, "", err
	}
	for _, name := range append(names, "purchase_code") {
		if p.IsNumber(name) {
			return nil, "", badBody()
		}
	}
	code, _ := p.Get("purchase_code")
	return p, code, f.guard.TakeCode(w, "issue", code)
}

// listRevokedLicenses answers GET /api/licenses/revoked.
func (f *face) listRevokedLicenses(w http.ResponseWriter, r *http.Request) error {
	list, err := f.store.RevokedLicenses(r.Context(), f.baseURL)
	if err != nil {
		return public(err)
	}
	return serveToAll(w, r, list, func(body []byte) any {
		return web.Prepare([]byte(`{"status":"success","data":` + string(body) + `}`))
	})
}

// getLicenseKeys answers GET /.well-known/jwks.json (RFC 7517).
func (f *face) getLicenseKeys(w http.ResponseWriter, r *http.Request) error {
	keys, err := f.store.LicenseKeySet(r.Context())
	if err != nil {
		return public(err)
	}
	return serveToAll(w, r, keys, func(body []byte) any { return web.Prepare(body) })
}

// serveToAll serves what anybody may read, programs in other sites' pages too.
func serveToAll(w http.ResponseWriter, r *http.Request, d *store.Document, prepare func([]byte) any) error {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	return d.Prepared(prepare).(*web.Prepared).Serve(w, r)
}
