package api

import (
	"net/http"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/internal/store/requests"
	"github.com/countersign/countersign/internal/store/validation"
	"github.com/countersign/countersign/internal/web"
)

// issueLicense answers POST /api/licenses. The purchase code is the credential.
func (f *frontEnd) issueLicense(w http.ResponseWriter, r *http.Request) error {
	return f.signed(w, r, []string{"domain"}, func(q licenseCall) (licensing.Signed, error) {
		return f.store.Licensing.Issue(r.Context(), q.buyer, f.baseURL, q.code, q.get("domain"))
	})
}

// moveLicense answers POST /api/licenses/move.
func (f *frontEnd) moveLicense(w http.ResponseWriter, r *http.Request) error {
	return f.signed(w, r, []string{"domain", "from"}, func(q licenseCall) (licensing.Signed, error) {
		return f.store.Licensing.Move(r.Context(), q.buyer, f.baseURL, q.code, q.get("from"), q.get("domain"))
	})
}

// signed writes the license that do returns.
func (f *frontEnd) signed(w http.ResponseWriter, r *http.Request, names []string, do func(licenseCall) (licensing.Signed, error)) error {
	var l licensing.Signed
	err := f.withCode(w, r, names, func(q licenseCall) (err error) {
		l, err = do(q)
		aboutLicense(w, l.License)
		return err
	})
	if err != nil {
		return err
	}
	return web.OK(w, r, "data", countersign.License{License: l.Text, LicenseID: l.License.ID})
}

// revokeLicense handles POST /api/licenses/revoke: the buyer revokes a license.
func (f *frontEnd) revokeLicense(w http.ResponseWriter, r *http.Request) error {
	var l licensing.License
	err := f.withCode(w, r, []string{"domain", "license_id"}, func(q licenseCall) (err error) {
		l, err = f.store.Licensing.RevokeForBuyer(r.Context(), q.buyer, q.code, q.get("domain"), q.get("license_id"))
		aboutLicense(w, l)
		return err
	})
	if err != nil {
		return err
	}
	return web.OK(w, r, "data", countersign.LicenseRevocation{LicenseID: l.License.ID, Domain: l.Domain, RevokedAt: l.EndedAt})
}

// aboutLicense notes the purchase of a license, if there is one. One of another workspace
// than the key's is not for those who see the key's calls.
func aboutLicense(w http.ResponseWriter, l licensing.License) {
	about := web.SubjectOf(w)
	if about.Workspace != 0 && about.Workspace != l.WorkspaceID {
		return
	}
	about.Workspace, about.Purchase, about.Item = l.WorkspaceID, l.Purchase.ID, l.ItemID
}

// licenseCall is a request whose credential is a purchase code.
type licenseCall struct {
	buyer  people.Actor
	code   string
	params *web.Params
}

func (q licenseCall) get(name string) string {
	value, _ := q.params.Get(name)
	return value
}

// withCode reads a request whose credential is a purchase code, with parameters of
// these names, and calls do within the limits.
func (f *frontEnd) withCode(w http.ResponseWriter, r *http.Request, names []string, do func(licenseCall) error) error {
	names = append(names, "purchase_code")
	p, access, err := f.licenseParams(w, r, names)
	if err != nil {
		return err
	}
	for _, name := range names {
		if p.IsNumber(name) {
			return badBody()
		}
	}
	q := licenseCall{buyer: buyer(w), params: p}
	q.code = q.get("purchase_code")
	taken := false
	return f.limits.Call(w, access.Actor.Secret, func(ownOnly bool) error {
		if !taken { // a call that is repeated is one request
			if err := f.limits.TakeCode(w, "issue", q.code); err != nil {
				return err
			}
			taken = true
		}
		if q.buyer.Workspace = 0; ownOnly {
			q.buyer.Workspace = access.Actor.Workspace
		}
		return fault.Public(do(q))
	})
}

// licenseParams reads a request about licenses, whose purchase code is the credential, and finds the key that was sent
// along. Without one the access is zero. One that is sent must be valid.
func (f *frontEnd) licenseParams(w http.ResponseWriter, r *http.Request, names []string) (*web.Params, validation.Access, error) {
	p, key, err := readParams(w, r, names)
	if err != nil || key == "" {
		return p, validation.Access{}, err
	}
	access, err := f.identified(w, r, p, key)
	return p, access, err
}

// checkLicense answers POST /api/licenses/check. The workspace's secret keys are told
// what became of a purchase.
func (f *frontEnd) checkLicense(w http.ResponseWriter, r *http.Request) error {
	names := []string{"purchase_code", "license_id", "domain", "item_id"}
	p, access, err := f.licenseParams(w, r, names)
	if err != nil {
		return err
	}
	if p.IsNumber("purchase_code") || p.IsNumber("license_id") || p.IsNumber("domain") {
		return badBody()
	}
	var q licensing.CheckRequest
	for i, to := range []*string{&q.Code, &q.ID, &q.Domain, &q.Item} {
		*to, _ = p.Get(names[i])
	}
	actor := access.Actor
	if actor.Kind == "" {
		actor = buyer(w)
	}
	answer, err := f.limitedCheck(w, r, actor, q)
	if err != nil && err != errNotFound {
		return err
	}
	if !answer.Valid {
		web.SubjectOf(w).Reason = requests.CheckPrefix + answer.Code
	}
	return web.OK(w, r, "data", answer)
}

// limitedCheck asks the store within the limits. The error is errNotFound for an
// answer that counts like a failed validation.
func (f *frontEnd) limitedCheck(w http.ResponseWriter, r *http.Request, actor people.Actor, q licensing.CheckRequest) (answer countersign.LicenseCheck, err error) {
	taken := false
	err = f.limits.Call(w, actor.Secret, func(ownOnly bool) (err error) {
		if !taken {
			if err := f.limits.TakeCheck(w, q.Code, q.ID); err != nil {
				return err
			}
			taken = true
		}
		if q.Workspace = 0; ownOnly {
			q.Workspace = actor.Workspace
		}
		if answer, err = f.store.Licensing.Check(r.Context(), actor, q); err != nil {
			return fault.Public(err)
		}
		if answer.Code == countersign.CheckNotFound {
			return errNotFound
		}
		return nil
	})
	return answer, err
}

// errNotFound is counted like a failed validation, and not written.
var errNotFound error = fault.NotFound(countersign.CodePurchaseNotFound, "")

func buyer(w http.ResponseWriter) people.Actor {
	return people.Buyer(people.FrontEndAPI, web.ClientAddr(w))
}

// listRevokedLicenses answers GET /api/licenses/revoked.
func (f *frontEnd) listRevokedLicenses(w http.ResponseWriter, r *http.Request) error {
	list, err := f.store.Licensing.RevokedList(r.Context(), f.baseURL)
	if err != nil {
		return fault.Public(err)
	}
	return web.ServePrepared(w, r, list)
}

// getLicenseKeys answers GET /.well-known/jwks.json (RFC 7517).
func (f *frontEnd) getLicenseKeys(w http.ResponseWriter, r *http.Request) error {
	keys, err := f.store.Licensing.KeySet(r.Context())
	if err != nil {
		return fault.Public(err)
	}
	return web.ServePrepared(w, r, keys)
}
