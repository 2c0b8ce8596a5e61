package license

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign/countersign"
)

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

// check says what is missing or malformed.
func (c claims) check() error {
	_, badDate := countersign.ParseTimestamp(c.SupportedUntil)
	switch {
	case c.Issuer == "":
		return errors.New("its issuer is missing")
	case !printable(c.ID):
		return errors.New("its id is not 1 to 128 printable characters")
	case !isMoment(c.IssuedAt) || !isMoment(c.NotBefore) || c.Expires != nil && !isMoment(c.Expires):
		return errors.New("a time of it is missing or out of range")
	case c.ItemID <= 0 || c.ItemName == nil:
		return errors.New("its item is missing")
	case c.LicenseType != "Regular" && c.LicenseType != "Extended":
		return errors.New("its license type is neither Regular nor Extended")
	case !isDigest(c.Purchase):
		return errors.New("its purchase is not a digest of 32 to 128 hex digits")
	case c.Domain == "" || !slices.Contains(c.Domains, c.Domain):
		return errors.New("its domain is not among its domains")
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
			return fmt.Errorf("the domain %q of it is not in its normal form, or is a wildcard without its name", domain)
		}
	}
	return nil
}

// isDigest tells of lower-case hex digits: a purchase code that went into the wrong place is none.
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
