// Package usertoken has the tokens by which an app proves who is signed in to it. A token is
// a JSON Web Token (RFC 7519) with a MAC: {"alg":"HS256"} and the claims iss, aud, sub, iat,
// exp and jti. There is one algorithm, which the header can only confirm, and nothing of a
// token is parsed before its MAC is verified.
package usertoken

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

const (
	// Audience is the claim aud of every token.
	Audience = "api-addons"
	// Life is the longest time from iat to exp.
	Life = 15 * time.Minute
	// Skew is how far iat may be ahead of the clock of who verifies.
	Skew = 5 * time.Minute
	// maxText is the longest token that is read, in bytes.
	maxText = 4 << 10
)

// algorithm and header are what this package signs with.
const (
	algorithm = "HS256"
	header    = `{"alg":"HS256","typ":"JWT"}`
)

// The reasons why a token is refused.
var (
	// ErrInvalid is for everything that was not signed with the key, or breaks a rule.
	ErrInvalid = errors.New("usertoken: not a valid token")
	// ErrExpired is for a valid token whose time is over.
	ErrExpired = errors.New("usertoken: the token has expired")
)

// Key is the key of tokens, and the issuer that signs with it.
type Key struct {
	Secret [sha256.Size]byte
	Issuer string // the claim iss
}

// String keeps the secret out of texts and logs that are made by accident.
func (k Key) String() string { return "(key of " + k.Issuer + ")" }

// Token is what a token says.
type Token struct {
	User     string // the claim sub
	Issuer   string
	ID       string    // the claim jti, "" for none
	IssuedAt time.Time // whole seconds, as Expires
	Expires  time.Time
}

// At is [ErrInvalid] for a token that was issued after a time, and [ErrExpired] when its own time is over.
func (t Token) At(now time.Time) error {
	switch {
	case t.IssuedAt.After(now.Add(Skew)):
		return ErrInvalid
	case !now.Before(t.Expires):
		return ErrExpired
	}
	return nil
}

// claims is the payload. Members that are not here are ignored.
type claims struct {
	Issuer   string   `json:"iss"`
	Audience audience `json:"aud"`
	User     string   `json:"sub"`
	IssuedAt int64    `json:"iat"`
	Expires  int64    `json:"exp"`
	ID       string   `json:"jti,omitempty"`
}

// encodedHeader is header as most tokens have it.
var encodedHeader = base64url.EncodeToString([]byte(header))

// base64url is the encoding of a token: no padding, and one form for each value.
var base64url = base64.RawURLEncoding.Strict()

// Mint returns a token of a user that is valid from now on for [Life].
func Mint(key Key, user string, now time.Time) (text string, token Token) {
	issued := now.Truncate(time.Second).UTC()
	token = Token{User: user, Issuer: key.Issuer, ID: rand.Text(), IssuedAt: issued, Expires: issued.Add(Life)}
	payload, _ := json.Marshal(claims{ // strings and numbers always can be encoded
		Issuer: key.Issuer, Audience: Audience, User: user, IssuedAt: issued.Unix(), Expires: token.Expires.Unix(), ID: token.ID,
	})
	signed := encodedHeader + "." + base64url.EncodeToString(payload)
	return signed + "." + base64url.EncodeToString(mac(key, signed)), token
}

func mac(key Key, signed string) []byte {
	h := hmac.New(sha256.New, key.Secret[:])
	h.Write([]byte(signed))
	return h.Sum(nil)
}

// Verify returns what a token says that one of the keys has signed. Its errors are
// [ErrInvalid] and [ErrExpired].
func Verify(text string, now time.Time, keys ...Key) (Token, error) {
	signed, signature, ok := cut(text)
	if !ok {
		return Token{}, ErrInvalid
	}
	for _, key := range keys {
		if hmac.Equal(mac(key, signed), signature) {
			return read(signed, key.Issuer, now)
		}
	}
	return Token{}, ErrInvalid
}

// cut splits a token into what is signed and the signature.
func cut(text string) (signed string, signature []byte, ok bool) {
	i := strings.LastIndexByte(text, '.')
	if i < 0 || len(text) > maxText {
		return "", nil, false
	}
	signature, ok = decode(text[i+1:])
	return text[:i], signature, ok && len(signature) == sha256.Size
}

// decode decodes a part of a token. The decoder of the standard library passes over line breaks.
func decode(part string) ([]byte, bool) {
	b, err := base64url.DecodeString(part)
	return b, err == nil && !strings.ContainsAny(part, "\r\n")
}

// read parses what was verified, and applies the rules for its claims.
func read(signed, issuer string, now time.Time) (Token, error) {
	first, second, _ := strings.Cut(signed, ".")
	payload, ok := decode(second)
	if !ok || first != encodedHeader && !isOurs(first) {
		return Token{}, ErrInvalid
	}
	var c claims
	if err := json.Unmarshal(payload, &c); err != nil {
		return Token{}, ErrInvalid
	}
	if c.User == "" || c.Issuer != issuer || c.Audience != Audience || !isShort(c) {
		return Token{}, ErrInvalid
	}
	t := Token{User: c.User, Issuer: c.Issuer, ID: c.ID, IssuedAt: time.Unix(c.IssuedAt, 0).UTC(), Expires: time.Unix(c.Expires, 0).UTC()}
	if err := t.At(now); err != nil {
		return Token{}, err
	}
	return t, nil
}

// isShort reports whether a token is for a time that is not too long. Times far outside what a
// clock shows are refused before they are converted.
func isShort(c claims) bool {
	const latest = 1 << 40 // seconds
	return c.IssuedAt > 0 && c.IssuedAt <= latest && c.Expires > c.IssuedAt && c.Expires <= latest &&
		c.Expires-c.IssuedAt <= int64(Life/time.Second)
}

// isOurs reports whether a header has the algorithm that the MAC was verified with, and asks
// for nothing that is not understood (RFC 7515, 4.1.11).
func isOurs(encoded string) bool {
	head, ok := decode(encoded)
	var members struct {
		Algorithm string `json:"alg"`
		Type      string `json:"typ"`
		Critical  any    `json:"crit"`
	}
	err := json.Unmarshal(head, &members)
	return ok && err == nil && members.Algorithm == algorithm && members.Critical == nil && (members.Type == "" || strings.EqualFold(members.Type, "JWT"))
}
