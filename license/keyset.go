package license

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"

	"filippo.io/edwards25519"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign/countersign"
)

// KeySet is the public keys of a store, the current and the earlier ones. It does not change, and goroutines may
// share it.
type KeySet struct{ keys []Key }

// The largest key set that is read.
const (
	maxKeySet = 64 << 10 // bytes
	maxKeys   = 32
)

// NewKeySet creates a key set; the first key is the current one. At least one key is needed, and no id and no key may occur twice.
func NewKeySet(keys ...Key) (*KeySet, error) {
	if len(keys) == 0 || len(keys) > maxKeys {
		return nil, badKeySet(fmt.Errorf("it has %d license keys, expected 1 to %d", len(keys), maxKeys))
	}
	s := &KeySet{}
	for _, k := range keys {
		switch _, known := s.Key(k.ID); {
		case !ValidID(k.ID):
			return nil, badKeySet(errors.New("a key has no usable kid"))
		case known:
			return nil, badKeySet(fmt.Errorf("two keys have the kid %q", k.ID))
		case len(k.Public) != ed25519.PublicKeySize:
			return nil, badKeySet(fmt.Errorf("the key %q is not 32 bytes long", k.ID))
		case !usable(k.Public):
			return nil, badKeySet(fmt.Errorf("the key %q is not a valid public key", k.ID))
		case slices.ContainsFunc(s.keys, func(other Key) bool { return bytes.Equal(other.Public, k.Public) }):
			return nil, badKeySet(fmt.Errorf("the key %q occurs twice", k.ID))
		}
		s.keys = append(s.keys, Key{k.ID, bytes.Clone(k.Public)})
	}
	return s, nil
}

// usable reports whether a public key is the canonical encoding of a point on the curve whose order is not small. Under
// a key of small order, signatures verify that nobody made.
func usable(public ed25519.PublicKey) bool {
	point, err := new(edwards25519.Point).SetBytes(public)
	if err != nil || !bytes.Equal(point.Bytes(), public) {
		return false
	}
	return new(edwards25519.Point).MultByCofactor(point).Equal(edwards25519.NewIdentityPoint()) == 0
}

// Key finds a key by its id.
func (s *KeySet) Key(id string) (Key, bool) {
	i := slices.IndexFunc(s.keys, func(k Key) bool { return k.ID == id })
	if i < 0 {
		return Key{}, false
	}
	return s.keys[i], true
}

// Len is the number of keys.
func (s *KeySet) Len() int { return len(s.keys) }

// jwk is a key as a key set prints it (RFC 7517, RFC 8037).
type jwk struct {
	Type      string `json:"kty"`
	Curve     string `json:"crv"`
	ID        string `json:"kid"`
	Public    string `json:"x"`
	Use       string `json:"use,omitzero"`
	Algorithm string `json:"alg,omitzero"`
	// Private is a secret, which no key set may hold.
	Private jsontext.Value `json:"d,omitzero"`
}

// The words of a JWK for Ed25519.
const (
	keyType   = "OKP"
	keyCurve  = "Ed25519"
	keyUse    = "sig"
	algorithm = "EdDSA"
)

// MarshalJSON encodes the key set as a JWKS (RFC 7517), the body of /.well-known/jwks.json. Equal keys have equal
// bytes.
func (s *KeySet) MarshalJSON() ([]byte, error) {
	set := struct {
		Keys []jwk `json:"keys"`
	}{}
	for _, k := range s.keys {
		set.Keys = append(set.Keys, jwk{
			Type: keyType, Curve: keyCurve, ID: k.ID, Public: base64.RawURLEncoding.EncodeToString(k.Public),
			Use: keyUse, Algorithm: algorithm,
		})
	}
	return json.Marshal(set)
}

// ReadKeySet reads a JWKS. Keys of other kinds and for other uses are passed over, as RFC 7517 asks; a private key in it is an error.
func ReadKeySet(text []byte) (*KeySet, error) {
	if len(text) > maxKeySet {
		return nil, badKeySet(fmt.Errorf("it is longer than %d bytes", maxKeySet))
	}
	var set struct {
		Keys []jwk `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, badKeySet(err)
	}
	var keys []Key
	for _, j := range set.Keys {
		if j.Private != nil {
			return nil, badKeySet(errors.New("it contains a private key, which must never leave the store"))
		}
		if !j.verifies() {
			continue
		}
		public, err := base64.RawURLEncoding.Strict().DecodeString(j.Public)
		if err != nil {
			return nil, badKeySet(fmt.Errorf("the key %q is not base64url", j.ID))
		}
		keys = append(keys, Key{j.ID, public})
	}
	return NewKeySet(keys...)
}

// verifies reports whether the key can have signed a license.
func (j jwk) verifies() bool {
	return j.Type == keyType && j.Curve == keyCurve && (j.Use == "" || j.Use == keyUse) &&
		(j.Algorithm == "" || j.Algorithm == algorithm || j.Algorithm == keyCurve)
}

func badKeySet(cause error) error {
	return &countersign.Error{
		Kind: countersign.KindInvalid, Code: "key_set_invalid", Cause: cause,
		Message: "invalid key set: download it from the store's /.well-known/jwks.json",
	}
}

// ValidID reports whether a text can be the id of a license or of a key: 1 to 128 printable ASCII characters without
// space.
func ValidID(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return s != "" && len(s) <= 128
}
