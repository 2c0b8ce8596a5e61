package membership

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/keyfile"
)

const (
	// metaSigningKey is the name of the sealed key that signs membership tokens.
	metaSigningKey    = "iap_signing_key"
	purposeSigningKey = "membership signing key"
	tokenType         = "membership+jwt"
	// tokenLife is how long a membership token is valid at most. It is never valid longer than
	// the membership.
	tokenLife = 24 * time.Hour
)

// tokenClaims is what a membership token says beside the registered claims.
type tokenClaims struct {
	jwt.Claims
	Status    string `json:"status"`
	PackageID int64  `json:"package_id,omitempty"`
	Version   int64  `json:"version"`
}

// Sign returns a membership as a token that an app without a connection can check: a JWT
// signed with Ed25519 by the site's key, for up to 24 hours. issuer is the site's address. A
// membership without access has none, "".
func (s *Service) Sign(ctx context.Context, issuer, user string, m countersign.IAPMembership) (string, error) {
	if !m.Active || m.Package == nil {
		return "", nil
	}
	key, err := s.signingKey(ctx)
	if err != nil {
		return "", err
	}
	now := s.now()
	end := now.Add(tokenLife)
	if m.Until != nil && m.Until.Before(end) && m.Until.After(now) {
		end = m.Until.Time
	}
	options := (&jose.SignerOptions{}).WithType(tokenType)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: jose.JSONWebKey{Key: key, KeyID: keyID(key)}}, options)
	if err != nil {
		return "", fmt.Errorf("membership: sign: %w", err)
	}
	claims := tokenClaims{
		Claims: jwt.Claims{Issuer: issuer, Subject: user, IssuedAt: jwt.NewNumericDate(now), Expiry: jwt.NewNumericDate(end)},
		Status: m.Status, PackageID: m.Package.ID, Version: m.Version,
	}
	text, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		return "", fmt.Errorf("membership: sign: %w", err)
	}
	return text, nil
}

// PublicKeys returns the JSON Web Key Set with which apps check membership tokens.
func (s *Service) PublicKeys(ctx context.Context) ([]byte, error) {
	key, err := s.signingKey(ctx)
	if err != nil {
		return nil, err
	}
	public := jose.JSONWebKey{Key: key.Public(), KeyID: keyID(key), Algorithm: string(jose.EdDSA), Use: "sig"}
	return countersign.EncodeJSON(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{public}})
}

// keyID names a key by its public half.
func keyID(key ed25519.PrivateKey) string {
	return base64.RawURLEncoding.EncodeToString(key.Public().(ed25519.PublicKey)[:9])
}

// signingKey opens the site's key, and creates it at its first use.
func (s *Service) signingKey(ctx context.Context) (ed25519.PrivateKey, error) {
	text, err := s.db.Meta(ctx, metaSigningKey)
	if err != nil {
		return nil, err
	}
	if text == "" {
		if text, err = s.createSigningKey(ctx); err != nil {
			return nil, err
		}
	}
	sealed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("membership: the signing key: %w", err)
	}
	seed, err := s.box().Open(purposeSigningKey, sealed)
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("membership: the signing key can't be opened: %w", err)
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// createSigningKey writes a new key, unless somebody else was faster.
func (s *Service) createSigningKey(ctx context.Context) (text string, err error) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return "", fmt.Errorf("membership: create a signing key: %w", err)
	}
	err = s.db.Tx(ctx, func(tx *addondb.DB) error {
		if err := tx.Run(ctx, `INSERT INTO meta (name, value) VALUES ($1, '') ON CONFLICT (name) DO NOTHING`, metaSigningKey); err != nil {
			return err
		}
		if text, err = tx.LockMeta(ctx, metaSigningKey); err != nil || text != "" {
			return err
		}
		text = base64.StdEncoding.EncodeToString(s.box().Seal(purposeSigningKey, key.Seed()))
		if err := tx.SetMeta(ctx, metaSigningKey, text); err != nil {
			return err
		}
		return s.access.SameKeyFile(ctx, tx.Queries)
	})
	return text, err
}

// resealSigningKey brings the key to a new key file. A lost one is dropped: the next use
// creates another.
func resealSigningKey(ctx context.Context, tx *addondb.DB, old, fresh *keyfile.Box) error {
	text, err := tx.Meta(ctx, metaSigningKey)
	if err != nil || text == "" {
		return err
	}
	sealed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return fmt.Errorf("membership: the signing key: %w", err)
	}
	again := keyfile.Reseal(old, fresh, purposeSigningKey, sealed)
	if again == nil {
		return tx.SetMeta(ctx, metaSigningKey, "")
	}
	return tx.SetMeta(ctx, metaSigningKey, base64.StdEncoding.EncodeToString(again))
}
