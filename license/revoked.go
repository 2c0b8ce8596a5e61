package license

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Revoked is a store's list of licenses that are not good any more, signed like a license.
type Revoked struct {
	Issuer   string    // `iss`, the address of the store
	IssuedAt time.Time // to the second
	// Expires is the moment from which a newer list should be fetched.
	Expires time.Time
	IDs     []string // the ids of the licenses, [License.ID]
}

// Has reports whether a license is on the list.
func (r Revoked) Has(id string) bool { return slices.Contains(r.IDs, id) }

// revokedClaims is the payload of the list.
type revokedClaims struct {
	Issuer   string   `json:"iss"`
	IssuedAt *int64   `json:"iat"`
	Expires  *int64   `json:"exp"`
	Revoked  []string `json:"revoked"`
}

func (c revokedClaims) check() error {
	switch {
	case c.Issuer == "":
		return errors.New("its issuer is missing")
	case !isMoment(c.IssuedAt) || !isMoment(c.Expires):
		return errors.New("a time is missing or out of range")
	case c.Revoked == nil:
		return errors.New("its list is missing")
	}
	return nil
}

// SignRevoked returns the list's text, a compact JWS.
func SignRevoked(r Revoked, key SigningKey) (string, error) {
	c := revokedClaims{Issuer: r.Issuer, IssuedAt: seconds(r.IssuedAt), Expires: seconds(r.Expires), Revoked: r.IDs}
	if c.Revoked == nil {
		c.Revoked = []string{}
	}
	if err := c.check(); err != nil {
		return "", fmt.Errorf("sign a revoked list: %w", err)
	}
	return sign(revokedType, c, key)
}

// OpenRevoked reads a revoked list at a moment. An error is a [Refusal].
func OpenRevoked(text string, keys *KeySet, at time.Time) (Revoked, error) {
	payload, err := open(revokedType, text, keys)
	if errors.Is(err, ErrType) {
		return Revoked{}, ErrType.saying("this is signed, but it is not a revoked list; fetch it again from the store")
	}
	if err != nil {
		return Revoked{}, err
	}
	var c revokedClaims
	if err := unmarshal(payload, &c); err != nil {
		return Revoked{}, err
	}
	if err := c.check(); err != nil {
		return Revoked{}, ErrClaims.saying("the revoked list is signed, but " + err.Error() + "; fetch it again from the store")
	}
	r := Revoked{Issuer: c.Issuer, IssuedAt: moment(c.IssuedAt), Expires: moment(c.Expires), IDs: c.Revoked}
	if !at.Before(r.Expires) {
		return Revoked{}, ErrExpired.saying("the revoked list is too old; fetch a new one from the store")
	}
	return r, nil
}
