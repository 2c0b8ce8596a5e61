package license_test

import (
	"crypto"
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/license"
)

// A JOSE library of somebody else is the oracle here.

func TestAJOSELibraryReadsOurKeySetAndOpensOurLicense(t *testing.T) {
	key := newKey(t)
	text := must.Get(newSet(t, key, newKey(t)).MarshalJSON())(t)
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(text, &set); err != nil || len(set.Keys) != 2 {
		t.Fatalf("%d keys, %v", len(set.Keys), err)
	}
	token := must.Get(jwt.ParseSigned(mustSign(t, rain(), key), []jose.SignatureAlgorithm{jose.EdDSA}))(t)
	var standard jwt.Claims
	var own map[string]any
	must.Do(t, token.Claims(set.Key(key.ID())[0].Key, &standard, &own))
	if standard.Issuer != "https://store.example" || standard.ID != rain().ID || !standard.Expiry.Time().Equal(rain().Expires) {
		t.Errorf("claims %+v", standard)
	}
	want := map[string]any{
		"iss": "https://store.example", "jti": rain().ID, "iat": 1767225600.0, "nbf": 1767222000.0, "exp": 1798761600.0,
		"item_id": 1229.0, "item_name": "Rain & <Storm>", "license_type": "Regular", "purchase": rain().Purchase,
		"domain": "shop.example", "domains": []any{"shop.example", "*.shop.example", "localhost"},
		"supported_until": "2026-07-01T00:00:00Z",
	}
	if diff := cmp.Diff(want, own); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	expect.Equalf(t, token.Headers[0].ExtraHeaders["typ"], "countersign-license+jwt", "typ")
}

func TestOurKeyIDIsTheThumbprintOfTheKey(t *testing.T) {
	key := newKey(t)
	sum, err := (&jose.JSONWebKey{Key: key.Public().Public}).Thumbprint(crypto.SHA256)
	if err != nil || b64(sum) != key.ID() {
		t.Errorf("%s, want %s, %v", key.ID(), b64(sum), err)
	}
}

func TestWeOpenWhatAJOSELibrarySigned(t *testing.T) {
	private := jose.JSONWebKey{Key: currentKey, KeyID: currentKid}
	signer := must.Get(jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: private}, (&jose.SignerOptions{}).WithType("countersign-license+jwt")))(t)
	signed := must.Get(signer.Sign([]byte(payload(nil))))(t)
	text := must.Get(signed.CompactSerialize())(t)
	set := must.Get(json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{private.Public()}}))(t)
	keys := must.Get(license.ReadKeySet(set))(t)
	if _, err := license.Open(text, keys, "shop.example", start); err != nil {
		t.Error(err)
	}
}

func TestTheOrderOfTheHeadersMembersIsFree(t *testing.T) {
	keys := must.Get(license.ReadKeySet(testKeySet()))(t)
	for _, header := range []string{
		`{"typ":"countersign-license+jwt","kid":"2026-current","alg":"EdDSA"}`,
		`{ "kid": "2026-current", "typ": "countersign-license+jwt", "alg": "EdDSA" }`,
	} {
		if _, err := license.Open(compact(header, payload(nil), currentKey), keys, "shop.example", start); err != nil {
			t.Errorf("%s: %v", header, err)
		}
	}
}

func TestAKeyMayNotBeInTheSetUnderTwoIDs(t *testing.T) {
	// Two ids for one key would make it a matter of order which one counts.
	same := []license.Key{{ID: "a", Public: publicOf(currentKey)}, {ID: "b", Public: publicOf(currentKey)}}
	if _, err := license.NewKeySet(same...); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("a set with one key under two ids: %v", err)
	}
}
