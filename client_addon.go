package countersign

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// AddonClient calls an addon for the server of its site. BaseURL, Key and Secret are required. Its calls are signed: the
// secret never leaves this program. Its methods may be called from several goroutines at once, as long as nobody changes
// its fields, and return the errors of a [Client]. No error text and no printed AddonClient holds the key or the secret.
type AddonClient struct {
	// BaseURL is where the site is, for example "https://site.example"; a path is kept, a query is refused.
	BaseURL string
	// Key and Secret are the API key and the API secret; white space around them is ignored.
	Key, Secret string
	// HTTP makes the requests, and Retries is how often a call is repeated, as in a [Client]. Calls that ask the
	// app's store may take 20 s longer than the timeout of HTTP.
	HTTP    *http.Client
	Retries int
	// Now is the clock, which the addon's may differ from by up to 300 seconds. Nil means time.Now.
	Now func() time.Time
}

// UserToken asks the addon for a token of a user who is signed in at the site, which the site hands to its app. The token
// is valid for 15 minutes, with every active API key of the site. userID is the id that the site has for the user: 1 to 128
// printable characters without spaces around them.
func (c *AddonClient) UserToken(ctx context.Context, userID string) (UserToken, error) {
	r := sending("api-addons/auth/user-token", map[string]string{"user_id": userID})
	token, _, err := call(ctx, c.caller(), "user token", r, func(t UserToken) error { return missing(t.Token, "no token in it") })
	return token, err
}

// userTokenLife is how long a user token is valid.
const userTokenLife = 15 * time.Minute

// SignUserToken is UserToken without a call: the site signs the token itself, with a key that is derived from the secret.
// Such a token is only valid together with this API key.
func (c *AddonClient) SignUserToken(userID string) (UserToken, error) {
	if userID == "" || c.secret() == "" {
		return UserToken{}, errors.New("countersign: sign user token: a user id and an API secret are needed")
	}
	now := c.now()
	expires := now.Add(userTokenLife)
	payload, err := EncodeJSON(map[string]any{
		"iss": strings.TrimSpace(c.Key), "aud": "api-addons", "sub": userID, "iat": now.Unix(), "exp": now.Unix() + int64(userTokenLife/time.Second), "jti": rand.Text(),
	})
	if err != nil {
		return UserToken{}, fmt.Errorf("countersign: sign user token: %w", err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	signed := encode([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + encode(payload)
	key := hmacSHA256([]byte(c.secret()), "countersign user token")
	return UserToken{Token: signed + "." + encode(hmacSHA256(key, signed)), ExpiresAt: At(expires)}, nil
}

// sign signs a call: method, path with query, time, a nonce and the SHA-256 of the body, joined by newlines.
func (c *AddonClient) sign(req *http.Request, body []byte) {
	sum := sha256.Sum256(body)
	at, nonce := strconv.FormatInt(c.now().Unix(), 10), rand.Text()
	text := strings.Join([]string{req.Method, req.URL.RequestURI(), at, nonce, hex.EncodeToString(sum[:])}, "\n")
	req.Header.Set("X-Api-Timestamp", at)
	req.Header.Set("X-Api-Nonce", nonce)
	req.Header.Set("X-Api-Signature", hex.EncodeToString(hmacSHA256([]byte(c.secret()), text)))
}

func hmacSHA256(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	_, _ = io.WriteString(h, text) // never returns an error
	return h.Sum(nil)
}

func (c *AddonClient) secret() string { return strings.TrimSpace(c.Secret) }

func (c *AddonClient) now() time.Time {
	if c.Now == nil {
		return time.Now()
	}
	return c.Now()
}

// client makes the requests.
func (c *AddonClient) client() *Client {
	return &Client{BaseURL: c.BaseURL, Key: c.Key, HTTP: c.HTTP, Retries: c.Retries, secret: c.secret()}
}

// String describes the client without its key and its secret.
func (c AddonClient) String() string {
	return c.client().redact("countersign.AddonClient{" + redactedURL(c.BaseURL) + "}")
}

// Format prints [AddonClient.String] for every verb, so that no way of printing shows key or secret.
func (c AddonClient) Format(w fmt.State, _ rune) {
	_, _ = io.WriteString(w, c.String())
}

// MarshalText returns [AddonClient.String], so that structured logs do not show key or secret either.
func (c AddonClient) MarshalText() ([]byte, error) { return []byte(c.String()), nil }
