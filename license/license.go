package license

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// License is what a license file says.
type License struct {
	ID       string    // `jti`, 1 to 128 printable characters; the revoked list names licenses by it
	Issuer   string    // `iss`, the address of the store
	IssuedAt time.Time // to the second, like all times here
	// NotBefore is when the license begins; the zero value means IssuedAt.
	NotBefore time.Time
	// Expires is the moment from which the license is not valid any more; the zero value means never.
	Expires time.Time

	ItemID      int64
	ItemName    string
	LicenseType string // "Regular" or "Extended"
	// Purchase is a keyed digest of the purchase code in lower-case hex digits, 32 to 128 of them: never the code, and
	// never a digest that anybody could compute from a guessed code.
	Purchase string

	Domain string // the main domain, as [ParseDomain] gives it
	// Domains are all domains that the license opens for, Domain among them; see [Covers].
	Domains []string

	SupportedUntil countersign.Timestamp // the zero value when the purchase has no support
}

// Sign returns the text of the license file. A license that [Open] would refuse is an error.
func Sign(l License, key SigningKey) (string, error) {
	c := l.claims()
	if err := errors.Join(c.check(), c.checkDomains()); err != nil {
		return "", fmt.Errorf("sign a license: %w", err)
	}
	return sign(licenseType, c, key)
}

// Open reads a license file for the site at a host, at a moment. White space around the text is ignored. An error is
// a [Refusal]; nothing of a license that is refused is returned.
func Open(text string, keys *KeySet, host string, at time.Time) (License, error) {
	payload, err := open(licenseType, text, keys)
	if err != nil {
		return License{}, err
	}
	var c claims
	if err := c.decode(payload); err != nil {
		return License{}, err
	}
	l := c.license()
	if err := within(at, l.NotBefore, l.Expires); err != nil {
		return License{}, err
	}
	if err := l.covers(host); err != nil {
		return License{}, err
	}
	return l, nil
}

// within refuses a moment outside the time that something is valid.
func within(at, begins, ends time.Time) error {
	switch {
	case at.Before(begins):
		return ErrNotYetValid.saying("the license is valid from " + countersign.At(begins).String() + ", and it is " + countersign.At(at).String() + "; check the clock")
	case !ends.IsZero() && !at.Before(ends):
		return ErrExpired.saying("the license has expired on " + countersign.At(ends).String() + "; get a new one from the store")
	}
	return nil
}

// covers refuses a host that the license is not for.
func (l License) covers(host string) error {
	forms, err := hostForms(host)
	if err != nil {
		return ErrHost.saying("the license can't be verified for this host: " + reason(err))
	}
	if slices.ContainsFunc(l.Domains, func(d string) bool { return coversForms(d, forms) }) {
		return nil
	}
	return ErrWrongDomain.saying("the license is for " + l.Domain + ", not for " + forms[len(forms)-1] + "; get one for this domain from the store")
}

// claims is the payload of a license. Times are seconds since 1970.
type claims struct {
	Issuer         string   `json:"iss"`
	ID             string   `json:"jti"`
	IssuedAt       *int64   `json:"iat"`
	NotBefore      *int64   `json:"nbf"`
	Expires        *int64   `json:"exp,omitzero"`
	ItemID         int64    `json:"item_id"`
	ItemName       *string  `json:"item_name"`
	LicenseType    string   `json:"license_type"`
	Purchase       string   `json:"purchase"`
	Domain         string   `json:"domain"`
	Domains        []string `json:"domains"`
	SupportedUntil string   `json:"supported_until,omitzero"`
}

func (l License) claims() claims {
	begins := l.NotBefore
	if begins.IsZero() {
		begins = l.IssuedAt
	}
	c := claims{
		Issuer: l.Issuer, ID: l.ID, IssuedAt: seconds(l.IssuedAt), NotBefore: seconds(begins), Expires: seconds(l.Expires),
		ItemID: l.ItemID, ItemName: &l.ItemName, LicenseType: l.LicenseType, Purchase: l.Purchase,
		Domain: l.Domain, Domains: l.Domains,
	}
	if !l.SupportedUntil.IsZero() {
		c.SupportedUntil = l.SupportedUntil.String()
	}
	return c
}

func (c claims) license() License {
	l := License{
		ID: c.ID, Issuer: c.Issuer, IssuedAt: moment(c.IssuedAt), NotBefore: moment(c.NotBefore), Expires: moment(c.Expires),
		ItemID: c.ItemID, ItemName: *c.ItemName, LicenseType: c.LicenseType, Purchase: c.Purchase,
		Domain: c.Domain, Domains: c.Domains,
	}
	if c.SupportedUntil != "" {
		l.SupportedUntil, _ = countersign.ParseTimestamp(c.SupportedUntil) // check has read it before
	}
	return l
}

// decode reads a verified payload. Unknown members are ignored: a later store may say more.
func (c *claims) decode(payload []byte) error {
	if err := unmarshal(payload, c); err != nil {
		return err
	}
	if err := c.check(); err != nil {
		return ErrClaims.saying("the license is signed, but " + err.Error() + "; get one from the store")
	}
	return nil
}

// unmarshal reads verified JSON strictly.
func unmarshal(payload []byte, into any) error {
	err := json.Unmarshal(payload, into)
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return ErrDuplicate
	case err != nil:
		return ErrClaims
	}
	return nil
}

// check returns what is missing or malformed.
func (c claims) check() error {
	_, badDate := countersign.ParseTimestamp(c.SupportedUntil)
	switch {
	case c.Issuer == "":
		return errors.New("its issuer is missing")
	case !ValidID(c.ID):
		return errors.New("its id is not 1 to 128 printable characters")
	case !isMoment(c.IssuedAt) || !isMoment(c.NotBefore) || c.Expires != nil && !isMoment(c.Expires):
		return errors.New("a time is missing or out of range")
	case c.ItemID <= 0 || c.ItemName == nil:
		return errors.New("its item is missing")
	case c.LicenseType != "Regular" && c.LicenseType != "Extended":
		return errors.New("its license type is neither Regular nor Extended")
	case !isDigest(c.Purchase):
		return errors.New("its purchase is not a digest of 32 to 128 hex digits")
	case c.Domain == "" || !slices.Contains(c.Domains, c.Domain):
		return errors.New("domains does not contain domain")
	case c.SupportedUntil != "" && badDate != nil:
		return errors.New("its end of support is not a timestamp")
	}
	return nil
}

// checkDomains refuses domains that are not in the form that is compared: they would never be found.
func (c claims) checkDomains() error {
	for _, domain := range c.Domains {
		d, err := ParseDomain(domain, DomainRule{Wildcard: true})
		if err != nil {
			return err
		}
		if d.String() != domain || d.Wildcard && !slices.Contains(c.Domains, d.Name) {
			return fmt.Errorf("the domain %q is not in its canonical form, or is a wildcard without its own domain", domain)
		}
	}
	return nil
}

// isDigest reports whether a text is lower-case hex digits: a purchase code in the wrong place is not.
func isDigest(s string) bool {
	return len(s) >= 32 && len(s) <= 128 && strings.Trim(s, "0123456789abcdef") == ""
}

// lastSecond is the last one of the year 9999.
const lastSecond = 253402300799

func isMoment(s *int64) bool { return s != nil && *s >= 0 && *s <= lastSecond }

// seconds is the time as claims print it, nil for the zero time.
func seconds(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	s := t.Unix()
	return &s
}

func moment(s *int64) time.Time {
	if s == nil {
		return time.Time{}
	}
	return time.Unix(*s, 0).UTC()
}
