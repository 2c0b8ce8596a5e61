package credential

import (
	"context"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/keyfile"
)

// Lost lists the API credentials whose values an old key file, nil when it is lost, can't open
// any more.
func Lost(ctx context.Context, db *addondb.DB, old *keyfile.Box) (lost []Credential, err error) {
	pairs, err := db.Credentials(ctx)
	for _, c := range pairs {
		if len(c.KeySealed) > 0 && !resealed(&c, old, old) {
			lost = append(lost, credentialOf(c))
		}
	}
	return lost, err
}

// Reseal brings the values from an old key file, nil when it is lost, to a new one. Those that
// can't be opened are deleted.
func Reseal(ctx context.Context, tx *addondb.DB, old, fresh *keyfile.Box) error {
	pairs, err := tx.Credentials(ctx)
	if err != nil {
		return err
	}
	for _, c := range pairs {
		if !resealed(&c, old, fresh) {
			c.KeySealed, c.SecretSealed = []byte{}, []byte{}
		}
		if err := tx.UpdateCredential(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// resealed seals both values of a pair again, and reports false when one of them can't be
// opened.
func resealed(c *addondb.Credential, old, fresh *keyfile.Box) bool {
	key := keyfile.Reseal(old, fresh, pairPurpose(*c, HalfKey), c.KeySealed)
	secret := keyfile.Reseal(old, fresh, pairPurpose(*c, HalfSecret), c.SecretSealed)
	if key == nil || secret == nil {
		return false
	}
	c.KeySealed, c.SecretSealed = key, secret
	return true
}
