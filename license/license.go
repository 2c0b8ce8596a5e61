package license

import (
	"errors"
	"fmt"
	"time"

	"github.com/countersign/countersign"
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

// Sign makes the license file's text. A license that [Open] would not take for one is an error.
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
		return ErrHost.saying("the license can't be opened for this host: " + reason(err))
	}
	for _, d := range l.Domains {
		if coversForms(d, forms) {
			return nil
		}
	}
	return ErrWrongDomain.saying("the license is for " + l.Domain + ", not for " + forms[len(forms)-1] + "; get one for this domain from the store")
}
