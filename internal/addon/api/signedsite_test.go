package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/api"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
)

const tokenPath = "/api-addons/auth/user-token"

// reasonOf answers one request and returns the status, and of an error its code and reason.
func reasonOf(h http.Handler, r *http.Request) (status int, code, reason string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	var said struct {
		Code    string
		Details struct{ Reason string }
	}
	_ = json.Unmarshal(w.Body.Bytes(), &said)
	return w.Code, said.Code, said.Details.Reason
}

func (s *site) tokenCall(nonce string) call {
	return call{method: "POST", target: tokenPath, body: `{"user_id":"7"}`, key: s.pair.Key, secret: s.pair.Secret, at: today, nonce: nonce}
}

func TestASiteSignsItsCallsForUserTokens(t *testing.T) {
	t.Parallel()
	dbtest.AnEngine(t, func(t *testing.T, at dbtest.DB) {
		s := updated(t, at)
		_, other, err := s.CreateCredential(t.Context(), operator, "Second")
		must.Do(t, err)
		h := api.New(s.Addon, options())
		for i, tt := range []struct {
			rule   string
			change func(*call)
			status int
			reason string
		}{
			{"a signed call", func(*call) {}, 200, ""},
			{"a swapped user", func(c *call) { c.sentBody = `{"user_id":"8"}` }, 401, "credential_unknown"},
			{"the key of another pair", func(c *call) { c.key = other.Key }, 401, "credential_unknown"},
			{"the secret of another pair", func(c *call) { c.secret = other.Secret }, 401, "credential_unknown"},
			{"a signature for another path", func(c *call) { c.signedTarget = draftPath }, 401, "credential_unknown"},
			{"a clock five minutes behind", func(c *call) { c.at = today.Add(-300 * time.Second) }, 200, ""},
			{"a clock too far behind", func(c *call) { c.at = today.Add(-301 * time.Second) }, 401, "timestamp_invalid"},
			{"a clock too far ahead", func(c *call) { c.at = today.Add(301 * time.Second) }, 401, "timestamp_invalid"},
			{"no nonce", func(c *call) { c.withoutID = true }, 401, "nonce_invalid"},
			{"the nonce of an earlier call", func(c *call) { c.nonce = "site-nonce-0" }, 401, "nonce_used"},
			{"the user token in the place of the secret", func(c *call) { c.secret = s.siteToken("7", today) }, 401, "credential_unknown"},
		} {
			c := s.tokenCall("site-nonce-" + strconv.Itoa(i))
			tt.change(&c)
			status, code, reason := reasonOf(h, c.request())
			if status != tt.status || reason != tt.reason || status == 401 && code != "unauthorized" {
				t.Errorf("%s: %d %s %s, want %d %s", tt.rule, status, code, reason, tt.status, tt.reason)
			}
		}
		for i, half := range []addon.Half{addon.HalfKey, addon.HalfSecret, addon.HalfBoth} {
			must.Get(s.SetCredentialActive(t.Context(), operator, 1, half, false))(t)
			if status, _, reason := reasonOf(h, s.tokenCall("inactive-"+strconv.Itoa(i)).request()); status != 401 || reason != "credential_inactive" {
				t.Errorf("%s inactive: %d %s", half, status, reason)
			}
			must.Get(s.SetCredentialActive(t.Context(), operator, 1, half, true))(t)
		}
	})
}

// Of many who send the same signed call at once, one gets a token.
func TestOneOfManyEqualCallsGetsAUserToken(t *testing.T) {
	t.Parallel()
	dbtest.AnEngine(t, func(t *testing.T, at dbtest.DB) {
		s := updated(t, at)
		h := api.New(s.Addon, options())
		for round := range 5 {
			var served, refused atomic.Int64
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					switch status, _, reason := reasonOf(h, s.tokenCall("same-for-all-"+strconv.Itoa(round)).request()); {
					case status == 200:
						served.Add(1)
					case reason == "nonce_used":
						refused.Add(1)
					}
				})
			}
			all.Wait()
			if served.Load() != 1 || refused.Load() != 7 {
				t.Errorf("%d served, %d refused", served.Load(), refused.Load())
			}
		}
	})
}

// The path from the site's server to the app and back.
func TestATokenOfASignedCallIsGoodForTheApp(t *testing.T) {
	t.Parallel()
	dbtest.AnEngine(t, func(t *testing.T, at dbtest.DB) {
		s := updated(t, at)
		h := api.New(s.Addon, options())
		w := httptest.NewRecorder()
		h.ServeHTTP(w, s.tokenCall("from-site-to-app").request())
		var made struct{ Token string }
		must.Do(t, json.Unmarshal(w.Body.Bytes(), &made))
		r := httptest.NewRequest("GET", "/api-addons/auth/user", nil)
		r.Header.Set("X-Api-Key", s.pair.Key)
		r.Header.Set("Authorization", "Bearer "+made.Token)
		w = httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != 200 || !strings.Contains(w.Body.String(), `"user_id":"7"`) {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}
