package countersign

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/must"
)

const (
	testAddonKey    = "cak_0123456789/abcdefghijklmnopqrstuvwxyz"
	testAddonSecret = "cas_0123456789/abcdefghijklmnopqrstuvwxyz"
)

var testNow = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

func addonClient(address string) *AddonClient {
	return &AddonClient{BaseURL: address, Key: " " + testAddonKey, Secret: testAddonSecret + "\n", Retries: -1, Now: func() time.Time { return testNow }}
}

const tokenAnswer = `{"status":"success","token":"a.b.c","expires_at":"2026-11-01T12:15:00Z"}`

func TestAddonClientSignsItsCalls(t *testing.T) {
	s := serve(t, odd{body: tokenAnswer})
	c := addonClient(s.URL + "/shop")
	token, err := c.UserToken(t.Context(), "7")
	if err != nil || token.Token != "a.b.c" || !token.ExpiresAt.Equal(testNow.Add(15*time.Minute)) {
		t.Fatalf("%#v, %v", token, err)
	}
	must.Get(c.UserToken(t.Context(), "7"))(t)
	all := s.requests()
	for _, r := range all {
		// The hash is that of {"user_id":"7"}, computed by another program (sha256sum).
		text := strings.Join([]string{
			"POST", "/shop/api-addons/auth/user-token", "1793534400", r.header.Get("X-Api-Nonce"), "b5fb076dd7b3eae9b10902201d522e8e43e10e62b2de40d3bb1201998a56b0fa",
		}, "\n")
		if r.method != "POST" || r.uri != "/shop/api-addons/auth/user-token" || r.body != `{"user_id":"7"}` {
			t.Errorf("%+v", r)
		}
		if h := r.header; h.Get("X-Api-Key") != testAddonKey || h.Get("X-Api-Timestamp") != "1793534400" ||
			h.Get("X-Api-Signature") != hex.EncodeToString(hmacSHA256([]byte(testAddonSecret), text)) || h.Get("Authorization") != "" {
			t.Errorf("%v", h)
		}
	}
	if a, b := all[0].header.Get("X-Api-Nonce"), all[1].header.Get("X-Api-Nonce"); a == b || len(a) < 20 {
		t.Errorf("nonces %q and %q", a, b)
	}
}

func TestARepeatedCallOfTheAddonClientHasANewNonce(t *testing.T) {
	s := serve(t, odd{status: 503, header: map[string]string{"Retry-After": "0"}, body: envelope("Service unavailable")})
	c := addonClient(s.URL)
	c.Retries = 1
	_, err := c.UserToken(t.Context(), "7")
	var refused *Error
	if !errors.As(err, &refused) || refused.Kind != KindUnavailable {
		t.Fatal(err)
	}
	if all := s.requests(); len(all) != 2 || all[0].header.Get("X-Api-Nonce") == all[1].header.Get("X-Api-Nonce") {
		t.Errorf("%d requests, or the nonce is the same", len(all))
	}
}

func TestAddonClientErrors(t *testing.T) {
	for _, c := range []struct {
		rule   string
		answer odd
		kind   Kind
	}{
		{"a refusal has its code", odd{status: 401, header: map[string]string{"X-Error-Code": "unauthorized"}, body: envelope("Not valid: " + testAddonSecret)}, KindUnauthorized},
		{"a wrong user id", odd{status: 400, header: map[string]string{"X-Error-Code": "invalid_request"}, body: envelope("A user id is missing")}, KindInvalid},
		{"a success without a token", odd{body: `{"status":"success"}`}, 0},
		{"a page", odd{body: "<html>" + testAddonKey + testAddonSecret}, 0},
		{"a token that is a number", odd{body: `{"status":"success","token":7}`}, 0},
	} {
		t.Run(c.rule, func(t *testing.T) {
			token, err := addonClient(serve(t, c.answer).URL).UserToken(t.Context(), "7")
			var refused *Error
			var odd *NotJSONError
			if token != (UserToken{}) || errors.As(err, &refused) != (c.kind != 0) || errors.As(err, &odd) == (c.kind != 0) {
				t.Fatalf("%v, %v", token, err)
			}
			if refused != nil && refused.Kind != c.kind {
				t.Errorf("kind %s", refused.Kind)
			}
			if text := err.Error() + fmt.Sprintf("%+v", err); strings.Contains(text, testAddonKey) || strings.Contains(text, testAddonSecret) {
				t.Error(text)
			}
		})
	}
}

// The key was computed by another program (openssl dgst -sha256 -hmac).
func TestASiteSignsUserTokens(t *testing.T) {
	c := addonClient("")
	token, err := c.SignUserToken("Müşik ♪")
	if err != nil || !token.ExpiresAt.Equal(testNow.Add(15*time.Minute)) {
		t.Fatal(err)
	}
	parts := strings.Split(token.Token, ".")
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || len(parts) != 3 {
		t.Fatal(err)
	}
	var claims struct {
		Iss, Aud, Sub, Jti string
		Iat, Exp           int64
	}
	must.Do(t, json.Unmarshal(payload, &claims))
	if claims.Iss != testAddonKey || claims.Aud != "api-addons" || claims.Sub != "Müşik ♪" || claims.Iat != testNow.Unix() || claims.Exp != claims.Iat+900 || claims.Jti == "" {
		t.Errorf("%+v", claims)
	}
	if got, want := hex.EncodeToString(hmacSHA256([]byte(testAddonSecret), "countersign user token")), "51f5ced43f6205ab2f647374693458d6be8d140056dca90b8c030ac9b378a7fe"; got != want {
		t.Errorf("key %s, want %s", got, want)
	}
	for _, wrong := range []*AddonClient{{Key: testAddonKey}, {Key: testAddonKey, Secret: " "}} {
		if _, err := wrong.SignUserToken("7"); err == nil {
			t.Error("signed without a secret")
		}
	}
	if _, err := c.SignUserToken(""); err == nil {
		t.Error("signed for nobody")
	}
}

func TestAnAddonClientDoesNotPrintItsSecrets(t *testing.T) {
	c := addonClient("https://ada:secret-word@site.example/" + testAddonSecret)
	text := must.Get(c.MarshalText())(t)
	printed := string(text) + fmt.Sprintf("%v %+v %#v %s %q", c, *c, c, c, *c)
	token := UserToken{Token: "a.b.c"}
	printed += fmt.Sprintf("%v %+v %#v %s", token, token, token, token)
	for _, word := range []string{testAddonKey, testAddonSecret, "secret-word", "a.b.c"} {
		if strings.Contains(printed, word) {
			t.Error(printed)
		}
	}
}
