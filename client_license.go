package countersign

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
)

// IssueLicense gets the license of a purchase for the domain of a site. The purchase code is the credential: no key is
// needed. Asking again for the same domain is free and gives the license again.
//
// An *[Error] of KindNotFound says that the code is not good; of KindInvalid, code domain_invalid, that the domain can
// have no license; of KindConflict, code limit_reached, that no domain is left: its Data is a [LicenseDomains] with those
// in use.
func (c *Client) IssueLicense(ctx context.Context, code, domain string) (License, error) {
	return c.license(ctx, "issue license", "api/licenses", map[string]string{"purchase_code": code, "domain": domain})
}

// MoveLicense frees a domain of a purchase and gets the license for another one. from may be empty while one domain is
// in use. Repeating a move changes nothing.
//
// Beside the errors of IssueLicense there are those of KindConflict with the codes moves_used and move_too_soon, whose
// RetryAfter says when to come back, and domain_not_activated, and those of KindInvalid with the codes from_missing and
// domain_free.
func (c *Client) MoveLicense(ctx context.Context, code, from, domain string) (License, error) {
	sent := map[string]string{"purchase_code": code, "domain": domain}
	if from != "" {
		sent["from"] = from
	}
	return c.license(ctx, "move license", "api/licenses/move", sent)
}

// RevokeLicense ends the license of a purchase for a domain, as its buyer wishes, and frees the domain. licenseID says
// which one is meant, so that another one for the domain stays as it is; it may be empty. The license goes on the list of
// revoked ones, and it counts as a move unless it is for a test domain. Repeating it changes nothing.
//
// Beside the errors of KindNotFound and of KindInvalid of IssueLicense there are those of KindConflict with the codes
// moves_used and move_too_soon, whose RetryAfter says when to come back, and domain_not_activated.
func (c *Client) RevokeLicense(ctx context.Context, code, domain, licenseID string) (LicenseRevocation, error) {
	sent := map[string]string{"purchase_code": code, "domain": domain}
	if licenseID != "" {
		sent["license_id"] = licenseID
	}
	r, a, err := post(ctx, c, "revoke license", "api/licenses/revoke", sent, func(r LicenseRevocation) error {
		return missing(r.LicenseID, "no license's id is in it")
	})
	return r, a.withDomains(err)
}

func (c *Client) license(ctx context.Context, name, path string, sent map[string]string) (License, error) {
	l, a, err := post(ctx, c, name, path, sent, func(l License) error { return missing(l.License, "no license in it") })
	return l, a.withDomains(err)
}

// missing returns an error with a message about a value that is empty.
func missing(value, message string) error {
	if value == "" {
		return errors.New(message)
	}
	return nil
}

// LicenseKeys gets the public keys by which the store's license files are checked (RFC 7517), as it publishes them. The
// text is for license.ReadKeySet.
func (c *Client) LicenseKeys(ctx context.Context) ([]byte, error) {
	a, err := c.do(ctx, operation{method: http.MethodGet, path: ".well-known/jwks.json", limit: maxAnswer, plain: true})
	if err == nil && !json.Valid(a.body) {
		err = a.notUnderstood(errors.New("not a key set"))
	}
	if err != nil {
		return nil, c.wrap("license keys", err)
	}
	return a.body, nil
}

// LicenseQuestion identifies a purchase or license to check for a domain. Set PurchaseCode, LicenseID or both; ItemID
// may be empty.
type LicenseQuestion struct {
	PurchaseCode, LicenseID, Domain, ItemID string
}

// CheckLicense checks whether a purchase or a license is valid for a domain. It needs no key. With a secret key of the
// workspace, the result includes the state of the purchase. A nil error means that the store answered.
func (c *Client) CheckLicense(ctx context.Context, q LicenseQuestion) (LicenseCheck, error) {
	sent := map[string]string{"domain": q.Domain}
	for name, value := range map[string]string{"purchase_code": q.PurchaseCode, "license_id": q.LicenseID, "item_id": q.ItemID} {
		if value != "" {
			sent[name] = value
		}
	}
	check, _, err := post(ctx, c, "check license", "api/licenses/check", sent, func(c LicenseCheck) error { return missing(c.Code, "no code in it") })
	return check, err
}

// withDomains adds the domains that the store says are in use to an error.
func (a *answer) withDomains(err error) error {
	apiErr, ok := errors.AsType[*Error](err)
	var in LicenseDomains
	if ok && a.members.Data != nil && json.Unmarshal(a.members.Data, &in) == nil {
		apiErr.Data = in
	}
	return err
}
