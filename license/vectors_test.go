package license_test

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/license"
)

// The vectors are for verifiers in any language. They are made here without Sign: by hand, out of the standard
// library, so that Open and Sign can't agree on the same mistake.
var update = flag.Bool("update", false, "write testdata/vectors.json anew")

const vectorsFile = "testdata/vectors.json"

// vectors is the file.
type vectors struct {
	About   string          `json:"about"`
	KeySet  json.RawMessage `json:"jwks"`
	Vectors []vector        `json:"vectors"`
}

// vector is one license, the host and the moment it is opened for, and the refusal, or "".
type vector struct {
	Name    string `json:"name"`
	License string `json:"license"`
	Host    string `json:"host"`
	At      int64  `json:"at"`
	Error   string `json:"error"`
}

const aboutVectors = "Licenses to open with the key set for the host at the moment (seconds since 1970). " +
	"An empty error means that the license opens; otherwise it must be refused, and error is the code that the Go package gives."

// The keys: two of the store, and one of somebody else.
var (
	currentKey  = ed25519.NewKeyFromSeed([]byte("the current key of the test set."))
	earlierKey  = ed25519.NewKeyFromSeed([]byte("the earlier key of the test set."))
	strangerKey = ed25519.NewKeyFromSeed([]byte("a key that is not in the set ..."))
)

const currentKid, earlierKid = "2026-current", "2024-earlier"

func publicOf(k ed25519.PrivateKey) ed25519.PublicKey { return k.Public().(ed25519.PublicKey) }

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func testKeySet() json.RawMessage {
	jwk := func(kid string, k ed25519.PrivateKey) string {
		return fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","kid":%q,"x":%q,"use":"sig","alg":"EdDSA"}`, kid, b64(publicOf(k)))
	}
	return json.RawMessage(`{"keys":[` + jwk(currentKid, currentKey) + "," + jwk(earlierKid, earlierKey) + `]}`)
}

// The times of the license that all vectors are made of.
const (
	issued = 1767225600 // 2026-01-01T00:00:00Z
	noon   = issued + 12*3600
	ended  = issued + 365*24*3600
)

const goodHeader = `{"alg":"EdDSA","kid":"2026-current","typ":"countersign-license+jwt"}`

// payload is the valid license with changes: a text for a member, or "" to leave it out.
func payload(changes map[string]string) string {
	members := []string{"iss", "jti", "iat", "nbf", "exp", "item_id", "item_name", "license_type", "purchase", "domain", "domains", "supported_until"}
	values := map[string]string{
		"iss": `"https://store.example"`, "jti": `"0b6c6f0e-7d2f-4b1e-9a53-1f0a2c5d8e11"`, "iat": "1767225600", "nbf": "1767222000",
		"item_id": "1229", "item_name": `"Rain"`, "license_type": `"Regular"`, "purchase": `"5f0c9b7a1d2e4f60718293a4b5c6d7e8"`,
		"domain": `"shop.example"`, "domains": `["shop.example"]`, "supported_until": `"2026-07-01T00:00:00Z"`,
	}
	maps.Copy(values, changes)
	var out []string
	for _, m := range members {
		if values[m] != "" {
			out = append(out, `"`+m+`":`+values[m])
		}
	}
	return "{" + strings.Join(out, ",") + "}"
}

// compact signs any header and payload.
func compact(header, payload string, key ed25519.PrivateKey) string {
	signed := b64([]byte(header)) + "." + b64([]byte(payload))
	return signed + "." + b64(ed25519.Sign(key, []byte(signed)))
}

func good(changes map[string]string) string { return compact(goodHeader, payload(changes), currentKey) }

// withHeader is the valid license under another header, signed by the store.
func withHeader(header string) string { return compact(header, payload(nil), currentKey) }

func makeVectors() vectors {
	return vectors{About: aboutVectors, KeySet: testKeySet(), Vectors: append(goodVectors(), badVectors()...)}
}

func goodVectors() []vector {
	rain := good(nil)
	wild := good(map[string]string{"domains": `["shop.example","*.shop.example"]`})
	year := good(map[string]string{"exp": fmt.Sprint(ended)})
	idn := good(map[string]string{"domain": `"xn--bcher-kva.example"`, "domains": `["xn--bcher-kva.example"]`})
	sharp := good(map[string]string{"domain": `"xn--strae-oqa.example"`, "domains": `["xn--strae-oqa.example"]`})
	under := good(map[string]string{"domain": `"my_shop.example"`, "domains": `["my_shop.example","*.my_shop.example"]`})
	tests := good(map[string]string{"domains": `["shop.example","localhost","shop.test","10.0.2.2"]`})
	v6 := good(map[string]string{"domain": `"2001:db8::1"`, "domains": `["2001:db8::1"]`})
	return []vector{
		{"a license opens for its domain", rain, "shop.example", noon, ""},
		{"www. is the same site", rain, "www.shop.example", noon, ""},
		{"letter case does not matter", rain, "Shop.EXAMPLE", noon, ""},
		{"a trailing dot does not matter", rain, "shop.example.", noon, ""},
		{"white space around the text does not matter", "\n " + rain + "\r\n", "shop.example", noon, ""},
		{"it begins at nbf", rain, "shop.example", issued - 3600, ""},
		{"it ends just before exp", year, "shop.example", ended - 1, ""},
		{"without exp it does not end", rain, "shop.example", ended * 2, ""},
		{"an earlier key of the set is as good", compact(strings.Replace(goodHeader, currentKid, earlierKid, 1), payload(nil), earlierKey), "shop.example", noon, ""},
		{"a wildcard covers one level", wild, "blog.shop.example", noon, ""},
		{"a license with a wildcard covers its main domain", wild, "shop.example", noon, ""},
		{"an international name in its ASCII form", idn, "xn--bcher-kva.example", noon, ""},
		{"an international name in its own letters", idn, "bücher.example", noon, ""},
		{"an international name in capitals", idn, "BÜCHER.example", noon, ""},
		{"www. of an international name", idn, "www.bücher.example", noon, ""},
		{"ß stays itself in an international name", sharp, "straße.example", noon, ""},
		{"an underscore in a name", under, "my_shop.example", noon, ""},
		{"an underscore in the name of a wildcard", under, "a_b.my_shop.example", noon, ""},
		{"one of several domains: a test host", tests, "localhost", noon, ""},
		{"one of several domains: an IPv4 address", tests, "10.0.2.2", noon, ""},
		{"an IPv6 address in brackets", v6, "[2001:db8::1]", noon, ""},
		{"a purchase without support", good(map[string]string{"supported_until": ""}), "shop.example", noon, ""},
		{"an Extended license", good(map[string]string{"license_type": `"Extended"`}), "shop.example", noon, ""},
		{"claims of a later store are passed over", strings.Join([]string{compact(goodHeader, strings.TrimSuffix(payload(nil), "}")+`,"seats":5}`, currentKey)}, ""), "shop.example", noon, ""},
		{"letters of every kind in the name of the item", good(map[string]string{"item_name": `"Größe / <b>\"雨\"</b> & \\ \u0001\n😀"`}), "shop.example", noon, ""},
	}
}

func badVectors() []vector {
	at := func(name, text, code string) vector { return vector{name, text, "shop.example", noon, code} }
	rain, parts := good(nil), strings.Split(good(nil), ".")
	other := strings.Split(good(map[string]string{"domain": `"evil.test"`, "domains": `["evil.test"]`}), ".")
	strangerJWK := fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","x":%q}`, b64(publicOf(strangerKey)))
	embedded := func(member, value string) string {
		return strings.TrimSuffix(goodHeader, "}") + `,"` + member + `":` + value + "}"
	}
	headerOf := func(alg string) string { return strings.Replace(goodHeader, `"EdDSA"`, alg, 1) }
	typed := func(typ string) string {
		return strings.Replace(goodHeader, `"typ":"countersign-license+jwt"`, typ, 1)
	}
	hs256 := func(secret []byte) string {
		signed := b64([]byte(headerOf(`"HS256"`))) + "." + parts[1]
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(signed))
		return signed + "." + b64(mac.Sum(nil))
	}
	wild := good(map[string]string{"domains": `["shop.example","*.shop.example"]`})
	year := good(map[string]string{"exp": fmt.Sprint(ended)})
	bad := []vector{
		// The algorithm.
		at("alg none without a signature", b64([]byte(headerOf(`"none"`)))+"."+parts[1]+".", "license_unsigned"),
		at("alg None without a signature", b64([]byte(headerOf(`"None"`)))+"."+parts[1]+".", "license_unsigned"),
		at("alg none with the signature of the good license", b64([]byte(headerOf(`"none"`)))+"."+parts[1]+"."+parts[2], "license_unsigned"),
		at("alg none, signed by the store", withHeader(headerOf(`"none"`)), "license_unsigned"),
		at("alg HS256 with the public key as the secret", hs256(publicOf(currentKey)), "license_algorithm"),
		at("alg HS256 with the text of the public key as the secret", hs256([]byte(b64(publicOf(currentKey)))), "license_algorithm"),
		at("alg HS256, signed by the store", withHeader(headerOf(`"HS256"`)), "license_algorithm"),
		at("alg ES256, signed by the store", withHeader(headerOf(`"ES256"`)), "license_algorithm"),
		at("alg eddsa in lower case", withHeader(headerOf(`"eddsa"`)), "license_algorithm"),
		at("alg that is no text", withHeader(headerOf(`1`)), "license_algorithm"),
		at("no alg", withHeader(`{"kid":"2026-current","typ":"countersign-license+jwt"}`), "license_algorithm"),
		// Keys that come with the license.
		at("jwk, signed with that key", compact(embedded("jwk", strangerJWK), payload(nil), strangerKey), "license_embedded_key"),
		at("jwk, signed by the store", withHeader(embedded("jwk", strangerJWK)), "license_embedded_key"),
		at("jku, signed with a key from there", compact(embedded("jku", `"https://evil.test/jwks.json"`), payload(nil), strangerKey), "license_embedded_key"),
		at("jku, signed by the store", withHeader(embedded("jku", `"https://store.example/.well-known/jwks.json"`)), "license_embedded_key"),
		at("x5u, signed with a key from there", compact(embedded("x5u", `"https://evil.test/chain.pem"`), payload(nil), strangerKey), "license_embedded_key"),
		at("x5u, signed by the store", withHeader(embedded("x5u", `"https://store.example/chain.pem"`)), "license_embedded_key"),
		at("x5c, signed by the store", withHeader(embedded("x5c", `["MIIB"]`)), "license_embedded_key"),
		// The rest of the header.
		at("typ JWT", withHeader(typed(`"typ":"JWT"`)), "license_wrong_type"),
		at("no typ", withHeader(`{"alg":"EdDSA","kid":"2026-current"}`), "license_wrong_type"),
		at("a revoked list of the store", compact(typed(`"typ":"countersign-revoked+jwt"`), `{"iss":"https://store.example","iat":1767225600,"exp":1798761600,"revoked":[]}`, currentKey), "license_wrong_type"),
		at("an unknown kid", compact(strings.Replace(goodHeader, currentKid, "2027-next", 1), payload(nil), strangerKey), "license_unknown_key"),
		at("an unknown kid, signed by the store", withHeader(strings.Replace(goodHeader, currentKid, "2027-next", 1)), "license_unknown_key"),
		at("the kid of another key of the set", withHeader(strings.Replace(goodHeader, currentKid, earlierKid, 1)), "license_unknown_key"),
		at("no kid", withHeader(`{"alg":"EdDSA","typ":"countersign-license+jwt"}`), "license_unknown_key"),
		at("crit, signed by the store", withHeader(embedded("crit", `["exp"]`)), "license_header"),
		at("b64 false, signed by the store", withHeader(embedded("b64", "false")), "license_header"),
		at("a duplicate member in the header: alg twice", withHeader(`{"alg":"none","alg":"EdDSA","kid":"2026-current","typ":"countersign-license+jwt"}`), "license_duplicate_member"),
		at("a header that is no object", withHeader(`"EdDSA"`), "license_header"),
		at("a header that is no JSON", withHeader(`{alg:EdDSA}`), "license_header"),
		// The signature.
		at("a changed payload", parts[0]+"."+other[1]+"."+parts[2], "license_signature"),
		at("a changed signature", parts[0]+"."+parts[1]+"."+flip(parts[2]), "license_signature"),
		at("a signature cut off", parts[0]+"."+parts[1]+"."+parts[2][:84], "license_signature"),
		at("no signature", parts[0]+"."+parts[1]+".", "license_signature"),
		at("the key's name with another key's signature", compact(goodHeader, payload(nil), strangerKey), "license_signature"),
		// The form.
		at("nothing", "", "license_not_compact"),
		at("two parts", parts[0]+"."+parts[1], "license_not_compact"),
		at("four parts", rain+"."+parts[2], "license_not_compact"),
		at("five parts, as encrypted tokens have", parts[0]+".."+parts[1]+"."+parts[1]+"."+parts[2], "license_not_compact"),
		at("the flattened JSON serialisation", fmt.Sprintf(`{"protected":%q,"payload":%q,"signature":%q}`, parts[0], parts[1], parts[2]), "license_not_compact"),
		at("the general JSON serialisation", fmt.Sprintf(`{"payload":%q,"signatures":[{"protected":%q,"signature":%q}]}`, parts[1], parts[0], parts[2]), "license_not_compact"),
		at("base64 with padding", parts[0]+"."+parts[1]+"."+parts[2]+"==", "license_not_compact"),
		at("a line break inside", parts[0]+".\n"+parts[1]+"."+parts[2], "license_not_compact"),
		at("a signature with stray bits at its end", parts[0]+"."+parts[1]+"."+strayBits(parts[2]), "license_not_compact"),
		// What it says.
		at("a duplicate member in the payload: domains twice", compact(goodHeader, strings.TrimSuffix(payload(map[string]string{"domains": `["evil.test"]`}), "}")+`,"domains":["shop.example"]}`, currentKey), "license_duplicate_member"),
		at("a payload that is no object", compact(goodHeader, `["shop.example"]`, currentKey), "license_claims"),
		at("a payload that is no JSON", compact(goodHeader, `shop.example`, currentKey), "license_claims"),
		at("something after the payload's object", compact(goodHeader, payload(nil)+"{}", currentKey), "license_claims"),
		at("no nbf", good(map[string]string{"nbf": ""}), "license_claims"),
		at("an nbf that is no number", good(map[string]string{"nbf": `"1767222000"`}), "license_claims"),
		at("an exp that is no number", good(map[string]string{"exp": `"never"`}), "license_claims"),
		at("no domains", good(map[string]string{"domains": ""}), "license_claims"),
		at("domains that are one text", good(map[string]string{"domains": `"shop.example"`}), "license_claims"),
		at("domains without the main one", good(map[string]string{"domain": `"evil.test"`}), "license_claims"),
	}
	onHost := func(name, text, host string) vector { return vector{name, text, host, noon, "license_wrong_domain"} }
	return append(bad,
		vector{"before nbf", rain, "shop.example", issued - 3601, "license_not_yet_valid"},
		vector{"at exp", year, "shop.example", ended, "license_expired"},
		vector{"long after exp", year, "shop.example", ended * 2, "license_expired"},
		onHost("another domain", rain, "evil.test"),
		onHost("the domain at the front of another", rain, "shop.example.evil.test"),
		onHost("the domain at the end of another", rain, "evilshop.example"),
		onHost("a name below the domain without a wildcard", rain, "blog.shop.example"),
		onHost("the domain's parent", rain, "example"),
		onHost("an international name that older rules map to the domain", good(map[string]string{"domain": `"strasse.example"`, "domains": `["strasse.example"]`}), "straße.example"),
		onHost("two levels below a wildcard", wild, "a.b.shop.example"),
		onHost("a wildcard's domain at the front of another", wild, "blog.shop.example.evil.test"),
		onHost("a test host that is not among the domains", rain, "localhost"),
		vector{"no host", rain, "", noon, "license_bad_host"},
	)
}

// flip changes one bit in the middle of a signature.
func flip(signature string) string {
	b, _ := base64.RawURLEncoding.DecodeString(signature)
	b[20] ^= 1
	return b64(b)
}

// strayBits writes the same 64 bytes in another way: their last digit has four bits that do not count.
func strayBits(signature string) string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(digits, signature[len(signature)-1])
	return signature[:len(signature)-1] + string(digits[last|1])
}

func readVectors(t testing.TB) vectors {
	t.Helper()
	text := must.Get(os.ReadFile(vectorsFile))(t)
	var v vectors
	must.Do(t, json.Unmarshal(text, &v))
	return v
}

func TestTheVectorsFileIsWhatTheTableMakes(t *testing.T) {
	want := must.Get(json.MarshalIndent(makeVectors(), "", "  "))(t)
	want = append(want, '\n')
	if *update {
		must.Do(t, os.WriteFile(vectorsFile, want, 0o644))
	}
	got := must.Get(os.ReadFile(vectorsFile))(t)
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("run go test ./license -update (-table +file):\n%s", diff)
	}
}

func TestVectors(t *testing.T) {
	file := readVectors(t)
	keys := must.Get(license.ReadKeySet(file.KeySet))(t)
	for _, v := range file.Vectors {
		t.Run(v.Name, func(t *testing.T) {
			l, err := license.Open(v.License, keys, v.Host, time.Unix(v.At, 0))
			if code := codeOf(t, err); code != v.Error {
				t.Fatalf("%q (%v), want %q", code, err, v.Error)
			}
			if err != nil && !cmp.Equal(l, license.License{}) {
				t.Error("a refused license gives something away")
			}
		})
	}
}

func TestEveryRefusalHasABadVector(t *testing.T) {
	seen := map[string]bool{}
	for _, v := range makeVectors().Vectors {
		seen[v.Error] = true
	}
	for _, r := range []*license.Refusal{
		license.ErrNotCompact, license.ErrSignature, license.ErrUnsigned, license.ErrAlgorithm, license.ErrEmbeddedKey, license.ErrType,
		license.ErrUnknownKey, license.ErrHeader, license.ErrDuplicate, license.ErrClaims, license.ErrNotYetValid, license.ErrExpired,
		license.ErrHost, license.ErrWrongDomain,
	} {
		if !seen[r.Code] {
			t.Errorf("no vector is refused with %s", r.Code)
		}
	}
}

// codeOf is the code of a refusal, "" for nil. Every error of Open must be one.
func codeOf(t testing.TB, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var refused *license.Refusal
	if !errors.As(err, &refused) {
		t.Fatalf("%v is no refusal", err)
	}
	return refused.Code
}
