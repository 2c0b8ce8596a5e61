package usertoken

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/countersign/countersign/internal/must"
)

var (
	noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	ours = Key{Secret: sha256.Sum256([]byte("ours")), Issuer: "countersign-addon"}
	site = Key{Secret: sha256.Sum256([]byte("site")), Issuer: "cak_site"}
)

const goodHeader = `{"typ":"JWT","alg":"HS256"}`

// payload is a valid one, with some text replaced.
func payload(changes ...string) string {
	text := fmt.Sprintf(`{"iss":"countersign-addon","aud":"api-addons","sub":"7","iat":%d,"exp":%d,"jti":"x"}`, noon.Unix(), noon.Add(Life).Unix())
	return strings.NewReplacer(changes...).Replace(text)
}

// signed is a token with any header and payload, and a MAC of a key.
func signed(key Key, header, payload string) string {
	text := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString([]byte(payload))
	h := hmac.New(sha256.New, key.Secret[:])
	h.Write([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// part changes one of the three parts of a valid token.
func part(i int, change func(string) string) string {
	parts := strings.Split(signed(ours, goodHeader, payload()), ".")
	parts[i] = change(parts[i])
	return strings.Join(parts, ".")
}

func encoded(text string) func(string) string {
	return func(string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
}

func seconds(at time.Time) string { return fmt.Sprint(at.Unix()) }

func TestVerify(t *testing.T) {
	iat, exp := seconds(noon), seconds(noon.Add(Life))
	other := Key{Secret: sha256.Sum256([]byte("other")), Issuer: ours.Issuer}
	cases := []struct {
		rule, text string
		want       error
	}{
		{"a token of the addon is valid", signed(ours, goodHeader, payload()), nil},
		{"a token of the site is valid", signed(site, goodHeader, payload("countersign-addon", "cak_site")), nil},
		{"a header needs no typ", signed(ours, `{"alg":"HS256"}`, payload()), nil},
		{"a header may name a key, which nobody looks up", signed(ours, `{"alg":"HS256","kid":"x","jku":"https://evil.example"}`, payload()), nil},
		{"a token needs no jti", signed(ours, goodHeader, payload(`,"jti":"x"`, ``)), nil},
		{"claims that are not ours are ignored", signed(ours, goodHeader, payload(`"jti"`, `"role":"admin","jti"`)), nil},
		{"aud may be a list with our audience alone", signed(ours, goodHeader, payload(`"api-addons"`, `["api-addons"]`)), nil},
		{"a clock of the site may be five minutes ahead", signed(ours, goodHeader, payload(iat, seconds(noon.Add(Skew)), exp, seconds(noon.Add(Skew+Life)))), nil},
		{"a time may be shorter", signed(ours, goodHeader, payload(exp, seconds(noon.Add(time.Second)))), nil},

		{"another key", signed(other, goodHeader, payload()), ErrInvalid},
		{"the key of one issuer with the name of another", signed(site, goodHeader, payload()), ErrInvalid},
		{"another issuer", signed(ours, goodHeader, payload("countersign-addon", "evil")), ErrInvalid},
		{"no issuer", signed(ours, goodHeader, payload(`"iss":"countersign-addon",`, ``)), ErrInvalid},
		{"another audience", signed(ours, goodHeader, payload("api-addons", "other")), ErrInvalid},
		{"no audience", signed(ours, goodHeader, payload(`"aud":"api-addons",`, ``)), ErrInvalid},
		{"our audience beside another", signed(ours, goodHeader, payload(`"api-addons"`, `["api-addons","other"]`)), ErrInvalid},
		{"an audience that is a number", signed(ours, goodHeader, payload(`"api-addons"`, `7`)), ErrInvalid},
		{"no user", signed(ours, goodHeader, payload(`"sub":"7",`, ``)), ErrInvalid},
		{"an empty user", signed(ours, goodHeader, payload(`"sub":"7"`, `"sub":""`)), ErrInvalid},
		{"a user that is a number", signed(ours, goodHeader, payload(`"sub":"7"`, `"sub":7`)), ErrInvalid},
		{"a user twice", signed(ours, goodHeader, payload(`"sub":"7"`, `"sub":"8","sub":"7"`)), ErrInvalid},
		{"a claim in other letters", signed(ours, goodHeader, payload(`"sub"`, `"SUB"`)), ErrInvalid},
		{"an expired token", signed(ours, goodHeader, payload(iat, seconds(noon.Add(-Life)), exp, iat)), ErrExpired},
		{"an expired token for another audience", signed(ours, goodHeader, payload("api-addons", "other", iat, seconds(noon.Add(-Life)), exp, iat)), ErrInvalid},
		{"no end", signed(ours, goodHeader, payload(`,"exp":`+exp, ``)), ErrInvalid},
		{"no beginning", signed(ours, goodHeader, payload(`"iat":`+iat+`,`, ``)), ErrInvalid},
		{"an end before the beginning", signed(ours, goodHeader, payload(exp, seconds(noon.Add(-time.Second)))), ErrInvalid},
		{"a time of more than 15 minutes", signed(ours, goodHeader, payload(exp, seconds(noon.Add(Life+time.Second)))), ErrInvalid},
		{"a long time whose last minutes these are", signed(ours, goodHeader, payload(iat, seconds(noon.Add(-time.Hour)))), ErrInvalid},
		{"a beginning too far ahead", signed(ours, goodHeader, payload(iat, seconds(noon.Add(Skew+time.Second)))), ErrInvalid},
		{"a time that overflows", signed(ours, goodHeader, payload(iat, "9223372036854775000", exp, "9223372036854775807")), ErrInvalid},
		{"a time before the epoch", signed(ours, goodHeader, payload(iat, "-9223372036854775000")), ErrInvalid},
		{"a time with a fraction", signed(ours, goodHeader, payload(exp, exp+".5")), ErrInvalid},
		{"a time as text", signed(ours, goodHeader, payload(exp, `"`+exp+`"`)), ErrInvalid},

		{"alg none without a signature", part(2, func(string) string { return "" }), ErrInvalid},
		{"alg none", signed(ours, `{"alg":"none"}`, payload()), ErrInvalid},
		{"another hash, signed with ours", signed(ours, `{"alg":"HS512"}`, payload()), ErrInvalid},
		{"a public key's algorithm, signed with ours", signed(ours, `{"alg":"EdDSA"}`, payload()), ErrInvalid},
		{"an algorithm in small letters", signed(ours, `{"alg":"hs256"}`, payload()), ErrInvalid},
		{"no algorithm", signed(ours, `{"typ":"JWT"}`, payload()), ErrInvalid},
		{"two algorithms", signed(ours, `{"alg":"HS256","alg":"none"}`, payload()), ErrInvalid},
		{"another type", signed(ours, `{"alg":"HS256","typ":"countersign-license+jwt"}`, payload()), ErrInvalid},
		{"an extension that has to be understood", signed(ours, `{"alg":"HS256","crit":["b64"],"b64":false}`, payload()), ErrInvalid},
		{"a header that is not JSON", signed(ours, `x`, payload()), ErrInvalid},
		{"a payload that is not JSON", signed(ours, goodHeader, `x`), ErrInvalid},
		{"text after the payload", signed(ours, goodHeader, payload()+"{}"), ErrInvalid},
		{"a list as payload", signed(ours, goodHeader, "["+payload()+"]"), ErrInvalid},
		{"null as payload", signed(ours, goodHeader, "null"), ErrInvalid},

		{"a swapped user", part(1, encoded(payload(`"7"`, `"8"`))), ErrInvalid},
		{"a swapped header", part(0, encoded(`{"alg":"HS256"}`)), ErrInvalid},
		{"half a signature", part(2, func(s string) string { return s[:20] }), ErrInvalid},
		{"a signature with a line break", part(2, func(s string) string { return s[:20] + "\n" + s[20:] }), ErrInvalid},
		{"a signature with padding", part(2, func(s string) string { return s + "=" }), ErrInvalid},
		{"four parts", signed(ours, goodHeader, payload()) + ".x", ErrInvalid},
		{"space around it", " " + signed(ours, goodHeader, payload()), ErrInvalid},
		{"nothing", "", ErrInvalid},
		{"points alone", "..", ErrInvalid},
		{"a text without an end", strings.Repeat("x.", 1<<20), ErrInvalid},
	}
	for _, c := range cases {
		t.Run(c.rule, func(t *testing.T) {
			got, err := Verify(c.text, noon, ours, site)
			if !errors.Is(err, c.want) || err == nil && got.User != "7" || err != nil && got != (Token{}) {
				t.Errorf("%+v, %v; want %v", got, err, c.want)
			}
		})
	}
}

func TestATokenIsValidUntilItsEnd(t *testing.T) {
	at := noon.Add(900 * time.Millisecond)
	text, made := Mint(ours, "7", at)
	for _, c := range []struct {
		at   time.Time
		want error
	}{
		{at, nil}, {at.Add(-Skew), nil}, {made.Expires.Add(-time.Nanosecond), nil}, {made.Expires, ErrExpired}, {at.Add(Life), ErrExpired}, {at.Add(-time.Hour), ErrInvalid},
	} {
		got, err := Verify(text, c.at, ours)
		if !errors.Is(err, c.want) || err == nil && (got.User != "7" || got.ID != made.ID || !got.Expires.Equal(made.Expires)) {
			t.Errorf("at %s: %+v, %v; want %v", c.at, got, err, c.want)
		}
	}
	if made.Expires.After(at.Add(Life)) {
		t.Errorf("it is valid until %s", made.Expires)
	}
	if again, _ := Mint(ours, "7", at); again == text {
		t.Error("two tokens are the same")
	}
}

// Another implementation reads our tokens, and writes some that we read.
func TestTokensAreThoseOfTheStandard(t *testing.T) {
	text, _ := Mint(ours, "Müşik ♪", noon)
	parsed := must.Get(jwt.ParseSigned(text, []jose.SignatureAlgorithm{jose.HS256}))(t)
	var c jwt.Claims
	must.Do(t, parsed.Claims(ours.Secret[:], &c))
	if err := c.ValidateWithLeeway(jwt.Expected{Issuer: ours.Issuer, AnyAudience: jwt.Audience{Audience}, Subject: "Müşik ♪", Time: noon}, 0); err != nil || c.ID == "" {
		t.Errorf("%+v, %v", c, err)
	}
	theirs := func(alg jose.SignatureAlgorithm, key any) string {
		t.Helper()
		signer := must.Get(jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, (&jose.SignerOptions{}).WithType("JWT")))(t)
		text := must.Get(jwt.Signed(signer).Claims(jwt.Claims{
			Issuer: ours.Issuer, Subject: "7", Audience: jwt.Audience{Audience}, IssuedAt: jwt.NewNumericDate(noon), Expiry: jwt.NewNumericDate(noon.Add(Life)),
		}).Serialize())(t)
		return text
	}
	if got, err := Verify(theirs(jose.HS256, ours.Secret[:]), noon, ours); err != nil || got.User != "7" {
		t.Errorf("%+v, %v", got, err)
	}
	pair := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	for alg, key := range map[jose.SignatureAlgorithm]any{jose.HS512: append(ours.Secret[:], ours.Secret[:]...), jose.RS256: pair} {
		if _, err := Verify(theirs(alg, key), noon, ours); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", alg, err)
		}
	}
}

func TestAKeyDoesNotPrintItsSecret(t *testing.T) {
	if text := fmt.Sprintf("%v %+v %s", ours, ours, ours); strings.Contains(text, fmt.Sprint(ours.Secret[0], ours.Secret[1])) {
		t.Error(text)
	}
}

// FuzzVerify looks for a text that is accepted without a signature, and for a signed
// payload that breaks a rule.
func FuzzVerify(f *testing.F) {
	f.Add(goodHeader, payload(), signed(ours, goodHeader, payload()))
	f.Add(`{"alg":"none"}`, payload("api-addons", "x"), "..")
	f.Add(`{"alg":"HS256","crit":[]}`, `{"iss":"countersign-addon","aud":["api-addons"],"sub":"7","iat":1,"exp":901}`, "a.b.c")
	genuine := signed(ours, goodHeader, payload())
	f.Fuzz(func(t *testing.T, header, payload, text string) {
		if token, err := Verify(text, noon, ours, site); err == nil && text != genuine {
			t.Fatalf("%q is taken for %+v", text, token)
		}
		token, err := Verify(signed(ours, header, payload), noon, ours, site)
		if err != nil {
			if !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrExpired) || token != (Token{}) {
				t.Fatalf("%+v, %v", token, err)
			}
			return
		}
		if token.User == "" || token.Issuer != ours.Issuer || !noon.Before(token.Expires) || token.Expires.After(noon.Add(Life+Skew)) || !strings.Contains(header, algorithm) {
			t.Fatalf("%q, %q is taken for %+v", header, payload, token)
		}
	})
}
