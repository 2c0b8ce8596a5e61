package api_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/api"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
)

const draftPath = "/api-addons/admin/app/settings"

// call is a request to be signed; the test changes parts of it after that.
type call struct {
	method, target, body   string
	key, secret            string
	at                     time.Time
	nonce                  string
	signedTarget           string // what the caller signs; "" for target
	signature, sentBody    string // in the place of the right ones
	withoutTime, withoutID bool
}

// sign is the scheme as it is written down: hex HMAC-SHA256 under the secret over
// method, path and query, timestamp, nonce and hex SHA-256 of the body, joined by
// newlines.
func (c call) sign() string {
	sum := sha256.Sum256([]byte(c.body))
	target := c.signedTarget
	if target == "" {
		target = c.target
	}
	mac := hmac.New(sha256.New, []byte(c.secret))
	_, _ = io.WriteString(mac, strings.Join([]string{
		c.method, target, strconv.FormatInt(c.at.Unix(), 10), c.nonce, hex.EncodeToString(sum[:]),
	}, "\n"))
	return hex.EncodeToString(mac.Sum(nil))
}

func (c call) request() *http.Request {
	body := c.body
	if c.sentBody != "" {
		body = c.sentBody
	}
	r := httptest.NewRequest(c.method, c.target, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Api-Key", c.key)
	if !c.withoutTime {
		r.Header.Set("X-Api-Timestamp", strconv.FormatInt(c.at.Unix(), 10))
	}
	if !c.withoutID {
		r.Header.Set("X-Api-Nonce", c.nonce)
	}
	if c.signature == "" {
		c.signature = c.sign()
	}
	r.Header.Set("X-Api-Signature", c.signature)
	return r
}

// ask answers one request and gives the status and the code of the error.
func ask(h http.Handler, r *http.Request) (status int, code string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	var said struct{ Code string }
	_ = json.Unmarshal(w.Body.Bytes(), &said)
	return w.Code, said.Code
}

func TestSignedCalls(t *testing.T) {
	t.Parallel()
	dbtest.AnEngine(t, func(t *testing.T, at dbtest.DB) {
		s := updated(t, at)
		tests := []struct {
			name   string
			change func(*call)
			status int
			code   string
		}{
			{"a signature is enough", func(*call) {}, 200, ""},
			{"a body is signed with it", func(c *call) { c.method, c.body = "POST", `{"settings":{"appName":"Signed"}}` }, 200, ""},
			{"the query is signed with it", func(c *call) { c.target += "?x=1&y=%20" }, 200, ""},
			{"the path is signed as it is sent", func(c *call) { c.target = "/api-addons//admin/app/settings/" }, 200, ""},
			{"capitals are hex, too", func(c *call) { c.signature = strings.ToUpper(c.sign()) }, 200, ""},
			{"a clock may be five minutes behind", func(c *call) { c.at = today.Add(-300 * time.Second) }, 200, ""},
			{"a clock may be five minutes ahead", func(c *call) { c.at = today.Add(300 * time.Second) }, 200, ""},
			{"a clock too far behind", func(c *call) { c.at = today.Add(-301 * time.Second) }, 401, "timestamp_invalid"},
			{"a clock too far ahead", func(c *call) { c.at = today.Add(301 * time.Second) }, 401, "timestamp_invalid"},
			{"no timestamp", func(c *call) { c.withoutTime = true }, 401, "timestamp_invalid"},
			{"no nonce", func(c *call) { c.withoutID = true }, 401, "nonce_invalid"},
			{"a short nonce", func(c *call) { c.nonce = "1234567" }, 401, "nonce_invalid"},
			{"a signature of another secret", func(c *call) { c.secret += "x" }, 401, "credential_unknown"},
			{"a key that was never made", func(c *call) { c.key = strings.Replace(c.key, "cak_", "cak_0", 1) }, 401, "credential_unknown"},
			{"the secret in the place of the key", func(c *call) { c.key = c.secret }, 401, "credential_unknown"},
			{"a signature of another body", func(c *call) { c.method, c.body, c.sentBody = "POST", `{"note":"a"}`, `{"note":"b"}` }, 401, "credential_unknown"},
			{"a signature without its body", func(c *call) { c.sentBody = " " }, 401, "credential_unknown"},
			{"a signature of another path", func(c *call) { c.signedTarget = "/api-addons/admin" }, 401, "credential_unknown"},
			{"a signature of another query", func(c *call) { c.signedTarget, c.target = c.target, c.target+"?x=1" }, 401, "credential_unknown"},
			{"a signature that is no hex", func(c *call) { c.signature = strings.Repeat("z", 64) }, 401, "credential_unknown"},
			{"half a signature", func(c *call) { c.signature = c.sign()[:32] }, 401, "credential_unknown"},
			{"the update is not for programs", func(c *call) { c.target = "/api-addons/update.php" }, 403, "update_token"},
		}
		h := api.New(s.Addon, options())
		for i, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				c := call{method: "GET", target: draftPath, key: s.pair.Key, secret: s.pair.Secret, at: today, nonce: "nonce-00" + strconv.Itoa(i)}
				tt.change(&c)
				if status, code := ask(h, c.request()); status != tt.status || code != tt.code {
					t.Errorf("got %d %s, want %d %s", status, code, tt.status, tt.code)
				}
			})
		}
		t.Run("a call is good once", func(t *testing.T) {
			c := call{method: "GET", target: draftPath, key: s.pair.Key, secret: s.pair.Secret, at: today, nonce: "only-once"}
			if status, _ := ask(h, c.request()); status != 200 {
				t.Fatalf("the first time: %d", status)
			}
			if status, code := ask(h, c.request()); status != 401 || code != "nonce_used" {
				t.Errorf("the second time: %d %s", status, code)
			}
		})
		t.Run("not by another process that was started later", func(t *testing.T) {
			later := api.New(again(t, at), options())
			c := call{method: "GET", target: draftPath, key: s.pair.Key, secret: s.pair.Secret, at: today.Add(-time.Second), nonce: "only-here"}
			if status, _ := ask(h, c.request()); status != 200 {
				t.Fatalf("the first time: %d", status)
			}
			if status, code := ask(later, c.request()); status != 401 || code != "nonce_used" {
				t.Errorf("the second time: %d %s", status, code)
			}
		})
	})
}

// A caller signs the address that it knows, wherever a proxy cuts the prefix off.
func TestSignedCallsUnderAPathPrefix(t *testing.T) {
	s := updated(t, dbtest.New(t, dbtest.SQLite))
	o := options()
	o.BaseURL = "https://shop.example/prefix"
	h := api.New(s.Addon, o)
	prefixed := http.StripPrefix("/prefix", h)
	for name, tt := range map[string]struct {
		handler        http.Handler
		target, signed string
		status         int
	}{
		"the proxy leaves it":            {prefixed, "/prefix" + draftPath, "/prefix" + draftPath, 200},
		"the proxy cuts it off":          {h, draftPath, "/prefix" + draftPath, 200},
		"the caller is beside the proxy": {h, draftPath, draftPath, 200},
		"another prefix":                 {h, draftPath, "/other" + draftPath, 401},
	} {
		t.Run(name, func(t *testing.T) {
			c := call{
				method: "GET", target: tt.target, signedTarget: tt.signed, key: s.pair.Key, secret: s.pair.Secret, at: today,
				nonce: "nonce." + strings.ReplaceAll(name, " ", "-"),
			}
			if status, code := ask(tt.handler, c.request()); status != tt.status {
				t.Errorf("got %d %s, want %d", status, code, tt.status)
			}
			want := "nonce_used"
			if tt.status != 200 {
				want = "credential_unknown"
			}
			if status, code := ask(tt.handler, c.request()); status != 401 || code != want {
				t.Errorf("the second time: %d %s", status, code)
			}
		})
	}
}

func TestBothHalvesMustBeActive(t *testing.T) {
	t.Parallel()
	dbtest.AnEngine(t, func(t *testing.T, at dbtest.DB) {
		s := updated(t, at)
		h := api.New(s.Addon, options())
		ctx := t.Context()
		all := must.Get(s.Credentials(ctx, operator))(t)
		answers := func(t *testing.T, nonce string, status int, code string) {
			t.Helper()
			c := call{method: "GET", target: draftPath, key: s.pair.Key, secret: s.pair.Secret, at: today, nonce: nonce}
			if got, gotCode := ask(h, c.request()); got != status || gotCode != code {
				t.Errorf("signed: %d %s, want %d %s", got, gotCode, status, code)
			}
			r := httptest.NewRequest("GET", draftPath, nil)
			r.RemoteAddr = "127.0.0.1:4321"
			r.SetBasicAuth(s.pair.Key, s.pair.Secret)
			if got, gotCode := ask(h, r); got != status || gotCode != code {
				t.Errorf("Basic: %d %s, want %d %s", got, gotCode, status, code)
			}
			if got, _ := ask(h, httptest.NewRequest("GET", "/api-addons/app/settings", nil)); got != 200 {
				t.Errorf("the public settings: %d", got)
			}
		}
		answers(t, "nonce-both", 200, "")
		for _, half := range []addon.Half{addon.HalfKey, addon.HalfSecret, addon.HalfBoth} {
			t.Run(string(half), func(t *testing.T) {
				must.Get(s.SetCredentialActive(ctx, operator, all[0].ID, half, false))(t)
				answers(t, "nonce-off-"+string(half), 401, "credential_inactive")
				must.Get(s.SetCredentialActive(ctx, operator, all[0].ID, half, true))(t)
				answers(t, "nonce-on-"+string(half), 200, "")
			})
		}
	})
}
