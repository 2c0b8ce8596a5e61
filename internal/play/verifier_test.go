package play_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play"
	"github.com/countersign/countersign/internal/play/playfake"
)

// newVerifier returns a verifier of the pushes of a store, over HTTP.
func newVerifier(t *testing.T, s *playfake.Store) *play.Verifier {
	t.Helper()
	v := must.Get(play.NewVerifier(play.VerifierOptions{
		Audience: "https://example.com/notifications", Account: "push@example.iam.gserviceaccount.com", URL: serve(t, s), Now: s.Now,
	}))(t)
	return v
}

// push returns a valid push message.
func push(t *testing.T, s *playfake.Store) (bearer string, body []byte) {
	t.Helper()
	bearer, body, err := s.Push(s.SendTest())
	must.Do(t, err)
	return bearer, body
}

func TestAPushOfTheStoreIsVerified(t *testing.T) {
	s := newStore(t)
	v := newVerifier(t, s)
	for range 3 {
		bearer, _ := push(t, s)
		must.Do(t, v.VerifyPush(t.Context(), bearer))
	}
	if n := s.Calls("/oauth2/v3/certs"); n != 1 {
		t.Errorf("the keys were read %d times", n)
	}
	s.Advance(time.Hour + time.Second)
	bearer, _ := push(t, s)
	must.Do(t, v.VerifyPush(t.Context(), bearer))
	if n := s.Calls("/oauth2/v3/certs"); n != 2 {
		t.Errorf("the keys were read %d times after their age, want 2", n)
	}
}

// TestEachClaimOfAPushIsChecked changes one claim at a time.
func TestEachClaimOfAPushIsChecked(t *testing.T) {
	s := newStore(t)
	v := newVerifier(t, s)
	now := s.Now()
	cases := []struct {
		name   string
		change func(c *playfake.PushClaims)
		valid  bool
	}{
		{"nothing changed", func(*playfake.PushClaims) {}, true},
		{"the other form of the issuer", func(c *playfake.PushClaims) { c.Issuer = "accounts.google.com" }, true},
		{"another issuer", func(c *playfake.PushClaims) { c.Issuer = "https://evil.example" }, false},
		{"an issuer that begins alike", func(c *playfake.PushClaims) { c.Issuer = "https://accounts.google.com.evil.example" }, false},
		{"no issuer", func(c *playfake.PushClaims) { c.Issuer = "" }, false},
		{"another audience", func(c *playfake.PushClaims) { c.Audience = jwt.Audience{"https://example.com/"} }, false},
		{"one of two audiences", func(c *playfake.PushClaims) { c.Audience = append(c.Audience, "other") }, true},
		{"no audience", func(c *playfake.PushClaims) { c.Audience = nil }, false},
		{"another e-mail", func(c *playfake.PushClaims) { c.Email = "push@evil.iam.gserviceaccount.com" }, false},
		{"an e-mail in capitals", func(c *playfake.PushClaims) { c.Email = strings.ToUpper(c.Email) }, false},
		{"no e-mail", func(c *playfake.PushClaims) { c.Email = "" }, false},
		{"an e-mail that is not verified", func(c *playfake.PushClaims) { c.EmailVerified = false }, false},
		{"no word about the e-mail", func(c *playfake.PushClaims) { c.EmailVerified = nil }, false},
		{"a text in place of true", func(c *playfake.PushClaims) { c.EmailVerified = "true" }, false},
		{"no expiry", func(c *playfake.PushClaims) { c.Expiry = nil }, false},
		{"expired", func(c *playfake.PushClaims) { c.Expiry = jwt.NewNumericDate(now.Add(-time.Minute)) }, false},
		{"expired within the leeway", func(c *playfake.PushClaims) { c.Expiry = jwt.NewNumericDate(now.Add(-59 * time.Second)) }, true},
		{"from the future", func(c *playfake.PushClaims) { c.IssuedAt = jwt.NewNumericDate(now.Add(2 * time.Minute)) }, false},
		{"not valid before", func(c *playfake.PushClaims) { c.NotBefore = jwt.NewNumericDate(now.Add(2 * time.Minute)) }, false},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			claims := s.PushClaims()
			test.change(&claims)
			bearer := must.Get(s.SignPush(claims))(t)
			err := v.VerifyPush(t.Context(), bearer)
			if test.valid {
				must.Do(t, err)
				return
			}
			wantNoSecret(t, test.name, wantReason(t, err, play.PushRefused), bearer, claims.Email)
		})
	}
}

// signed signs the claims of a valid push in another way.
func signed(t *testing.T, s *playfake.Store, key jose.SigningKey, id string) string {
	t.Helper()
	signer := must.Get(jose.NewSigner(key, (&jose.SignerOptions{}).WithHeader("kid", id)))(t)
	return must.Get(jwt.Signed(signer).Claims(s.PushClaims()).Serialize())(t)
}

func TestForgedPushesAreRefused(t *testing.T) {
	s := newStore(t)
	v := newVerifier(t, s)
	bearer, _ := push(t, s)
	must.Do(t, v.VerifyPush(t.Context(), bearer))
	parts := strings.Split(bearer, ".")
	other := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	_, pushKey := testKeys()
	der := must.Get(x509.MarshalPKIXPublicKey(&pushKey.PublicKey))(t)
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	claims := must.Get(json.Marshal(s.PushClaims()))(t)
	text := base64.RawURLEncoding.EncodeToString
	for name, forged := range map[string]string{
		"empty": "", "no token": "abc", "the header's first word": "Bearer " + bearer, "two parts": parts[0] + "." + parts[1],
		"four parts": bearer + ".a", "no signature": parts[0] + "." + parts[1] + ".",
		"another signature":                 parts[0] + "." + parts[1] + "." + text(sha256.New().Sum(nil)),
		"other claims":                      parts[0] + "." + text([]byte(strings.Replace(string(claims), "push@", "root@", 1))) + "." + parts[2],
		"none":                              text([]byte(`{"alg":"none","kid":"simulated-push-key"}`)) + "." + text(claims) + ".",
		"the public key as a shared secret": signed(t, s, jose.SigningKey{Algorithm: jose.HS256, Key: public}, "simulated-push-key"),
		"another algorithm":                 signed(t, s, jose.SigningKey{Algorithm: jose.PS256, Key: pushKey}, "simulated-push-key"),
		"another key":                       signed(t, s, jose.SigningKey{Algorithm: jose.RS256, Key: other}, "simulated-push-key"),
		"another key with its own id":       signed(t, s, jose.SigningKey{Algorithm: jose.RS256, Key: other}, "other-key"),
		"dots":                              strings.Repeat(".", 4000), "too long": strings.Repeat("a", 9000),
	} {
		t.Run(name, func(t *testing.T) {
			wantReason(t, v.VerifyPush(t.Context(), forged), play.PushRefused)
		})
	}
}

func TestMadeUpKeysCauseNoTraffic(t *testing.T) {
	s := newStore(t)
	v := newVerifier(t, s)
	other := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	for _, id := range []string{"a", "b", "c", "d"} {
		wantReason(t, v.VerifyPush(t.Context(), signed(t, s, jose.SigningKey{Algorithm: jose.RS256, Key: other}, id)), play.PushRefused)
	}
	if n := s.Calls("/oauth2/v3/certs"); n != 1 {
		t.Errorf("the keys were read %d times", n)
	}
}

func TestANewKeyOfGoogleIsFound(t *testing.T) {
	s := newStore(t)
	v := newVerifier(t, s)
	bearer, _ := push(t, s)
	must.Do(t, v.VerifyPush(t.Context(), bearer))
	account, _ := testKeys()
	must.Do(t, s.RotatePushKey(account))
	s.Advance(time.Minute)
	rotated, _ := push(t, s)
	must.Do(t, v.VerifyPush(t.Context(), rotated))
	wantReason(t, v.VerifyPush(t.Context(), bearer), play.PushRefused) // its key is withdrawn
	if n := s.Calls("/oauth2/v3/certs"); n != 2 {
		t.Errorf("the keys were read %d times, want 2", n)
	}
}

func TestWithoutKeysAPushIsNeitherAcceptedNorRefused(t *testing.T) {
	s := newStore(t)
	calls, down := 0, true
	inner := s.Transport()
	v := must.Get(play.NewVerifier(play.VerifierOptions{
		Audience: "https://example.com/notifications", Account: "push@example.iam.gserviceaccount.com", Now: s.Now,
		Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			expect.Equalf(t, r.URL.String(), "https://www.googleapis.com/oauth2/v3/certs", "the keys were read from %s", r.URL)
			if calls++; down {
				return nil, http.ErrServerClosed
			}
			return inner.RoundTrip(r)
		}),
	}))(t)
	bearer, _ := push(t, s)
	for range 3 {
		wantReason(t, v.VerifyPush(t.Context(), bearer), play.Unavailable)
	}
	expect.Equalf(t, calls, 1, "calls in a row while they fail")
	down = false
	s.Advance(5 * time.Second)
	must.Do(t, v.VerifyPush(t.Context(), bearer))
}

func TestAVerifierNeedsAnAudienceAndAnAccount(t *testing.T) {
	for _, o := range []play.VerifierOptions{{Audience: "a"}, {Account: "b"}, {Audience: "a", Account: "b", URL: "nowhere"}} {
		_, err := play.NewVerifier(o)
		wantReason(t, err, play.Refused)
	}
}
