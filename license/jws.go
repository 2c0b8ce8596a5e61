package license

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The types of what a store signs, the header's `typ`.
const (
	licenseType = "countersign-license+jwt"
	revokedType = "countersign-revoked+jwt"
)

// maxText is the longest text that is read, in bytes: enough for a revoked list of more than 100,000 ids.
var maxText = map[string]int{licenseType: 64 << 10, revokedType: 8 << 20}

// base64url is the encoding of a JWS: no padding, and one form for each value.
var base64url = base64.RawURLEncoding.Strict()

// header prints the one header that is signed.
func header(typ, kid string) string {
	return `{"alg":"` + algorithm + `","kid":"` + kid + `","typ":"` + typ + `"}`
}

// sign returns a compact JWS of claims, in the JSON that every encoder prints: without insignificant white space.
func sign(typ string, claims any, key SigningKey) (string, error) {
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", fmt.Errorf("sign: %w", err)
	}
	signed := base64url.EncodeToString([]byte(header(typ, key.id))) + "." + base64url.EncodeToString(payload)
	text := signed + "." + base64url.EncodeToString(ed25519.Sign(key.private, []byte(signed)))
	if len(text) > maxText[typ] {
		return "", fmt.Errorf("sign: the text would be %d bytes long, more than the %d that are read", len(text), maxText[typ])
	}
	return text, nil
}

// open is the one way in: it returns the payload of a text that a key of the set has signed as typ.
func open(typ, text string, keys *KeySet) ([]byte, error) {
	text = strings.TrimSpace(text)
	if len(text) > maxText[typ] {
		return nil, ErrNotCompact.saying("this is not a license file: it is too long; use the file exactly as the store returned it")
	}
	j, err := split(text)
	if err != nil {
		return nil, err
	}
	key, verified := j.verify(typ, keys)
	if !verified {
		return nil, j.diagnose(typ, keys)
	}
	if err := checkHeader(j.header, typ, func(kid string) bool { return kid == key.ID }); err != nil {
		return nil, err
	}
	return j.payload, nil
}

// jws is a text in its three parts, none of which has been parsed.
type jws struct {
	header, payload, signature []byte
	headerText                 string // the first part as it came
	signed                     []byte // what the signature is over
}

func split(text string) (jws, error) {
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return jws{}, ErrNotCompact
	}
	j := jws{headerText: parts[0], signed: []byte(parts[0] + "." + parts[1])}
	for i, into := range []*[]byte{&j.header, &j.payload, &j.signature} {
		var err error
		// The decoder passes over line breaks.
		if *into, err = base64url.DecodeString(parts[i]); err != nil || strings.ContainsAny(parts[i], "\r\n") {
			return jws{}, ErrNotCompact
		}
	}
	return j, nil
}

// verify finds the key that made the signature. The key whose own header this is comes first; the others are tried
// because a header may be written in other ways.
func (j jws) verify(typ string, keys *KeySet) (Key, bool) {
	signed := func(k Key) bool { return ed25519.Verify(k.Public, j.signed, j.signature) }
	named := func(k Key) bool { return j.headerText == base64url.EncodeToString([]byte(header(typ, k.ID))) }
	i := slices.IndexFunc(keys.keys, named)
	if i < 0 || !signed(keys.keys[i]) {
		i = slices.IndexFunc(keys.keys, signed)
	}
	if i < 0 {
		return Key{}, false
	}
	return keys.keys[i], true
}

// diagnose finds the words for a text that no key has signed. It can only refuse.
func (j jws) diagnose(typ string, keys *KeySet) error {
	known := func(kid string) bool {
		_, ok := keys.Key(kid)
		return ok
	}
	if err := checkHeader(j.header, typ, known); err != nil {
		return err
	}
	return ErrSignature
}

// keyHeaders are the members of a header that bring a key, or say where to get one (RFC 7515, 4.1).
var keyHeaders = []string{"jwk", "jku", "x5u", "x5c", "x5t", "x5t#S256"}

// checkHeader refuses every header but alg, kid and typ with the values they must have.
func checkHeader(text []byte, typ string, known func(kid string) bool) error {
	var members map[string]any
	if err := json.Unmarshal(text, &members); errors.Is(err, jsontext.ErrDuplicateName) {
		return ErrDuplicate
	} else if err != nil || members == nil {
		return ErrHeader
	}
	for _, name := range keyHeaders {
		if _, ok := members[name]; ok {
			return ErrEmbeddedKey
		}
	}
	kid, _ := members["kid"].(string)
	switch alg, _ := members["alg"].(string); {
	case strings.EqualFold(alg, "none"):
		return ErrUnsigned
	case alg != algorithm:
		return ErrAlgorithm
	case members["typ"] != typ:
		return ErrType
	case !known(kid):
		return ErrUnknownKey
	case len(members) != 3:
		return ErrHeader
	}
	return nil
}
