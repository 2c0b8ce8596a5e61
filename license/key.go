package license

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
)

// Key is a public key of a store.
type Key struct {
	ID     string // the `kid` of what it signs: its thumbprint by RFC 7638
	Public ed25519.PublicKey
}

// SigningKey is a private key of a store. It prints as its id alone, whatever it is printed with.
type SigningKey struct {
	id      string
	private ed25519.PrivateKey
}

// NewSigningKey creates a key.
func NewSigningKey() (SigningKey, error) {
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return SigningKey{}, fmt.Errorf("create a license key: %w", err)
	}
	return signingKey(private), nil
}

// SigningKeyFromSeed is the key that [SigningKey.Seed] was taken of.
func SigningKeyFromSeed(seed []byte) (SigningKey, error) {
	if len(seed) != ed25519.SeedSize {
		return SigningKey{}, errors.New("a license key's seed is 32 bytes long")
	}
	return signingKey(ed25519.NewKeyFromSeed(seed)), nil
}

func signingKey(private ed25519.PrivateKey) SigningKey {
	return SigningKey{id: thumbprint(private.Public().(ed25519.PublicKey)), private: private}
}

// ID is the `kid` of what the key signs.
func (k SigningKey) ID() string { return k.id }

// Seed is the secret that the key is made of, 32 bytes. It is for a database that encrypts it, and for nothing else.
func (k SigningKey) Seed() []byte { return k.private.Seed() }

// Public is what may be shown of the key.
func (k SigningKey) Public() Key {
	return Key{ID: k.id, Public: k.private.Public().(ed25519.PublicKey)}
}

// String names the key without its secret.
func (k SigningKey) String() string { return "license.SigningKey{" + k.id + "}" }

// Format prints [SigningKey.String] for every verb.
func (k SigningKey) Format(w fmt.State, _ rune) { _, _ = io.WriteString(w, k.String()) }

// MarshalText returns [SigningKey.String], so that nothing encodes the secret.
func (k SigningKey) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// LogValue returns [SigningKey.String] for structured logs.
func (k SigningKey) LogValue() slog.Value { return slog.StringValue(k.String()) }

// thumbprint names a public key by RFC 7638: the SHA-256 of its canonical JWK.
func thumbprint(public ed25519.PublicKey) string {
	sum := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + base64.RawURLEncoding.EncodeToString(public) + `"}`))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
