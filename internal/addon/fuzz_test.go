package addon

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/dbtest"
)

// What is no service account is refused with a sentence that quotes nothing of it,
// and nothing else is accepted.
func FuzzServiceAccount(f *testing.F) {
	good := string(accountFile(nil))
	for _, seed := range []string{
		good, "", "{}", "[]", `{"type":"service_account"}`, `{"installed":{}}`, testKeys()["rsa"], "AIza", "<plist>", "\x30\x82", good[:100],
		`{"type":"service_account","client_email":"a@b.example","private_key":"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"}`,
		strings.Replace(good, `"project_id":"`, `"project_id":"<`, 1),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		checks, ok := iap.CheckServiceAccount(file)
		if len(checks) == 0 {
			t.Fatal("nothing is said")
		}
		for _, c := range checks {
			if c.Text == "" || !utf8.ValidString(c.Text) {
				t.Errorf("said %q", c.Text)
			}
			if strings.Contains(c.Text, "MII") {
				t.Errorf("%q quotes the file", c.Text)
			}
		}
		var members struct {
			Type  string `json:"type"`
			Email string `json:"client_email"`
		}
		if !ok {
			return
		}
		text := bytes.TrimPrefix(bytes.TrimSpace(file), []byte("\xef\xbb\xbf"))
		if err := json.Unmarshal(text, &members); err != nil || members.Type != "service_account" || !strings.Contains(members.Email, "@") {
			t.Errorf("accepted %+v, %v", members, err)
		}
	})
}

// Headers that nobody signed open nothing, whatever is in them, and a call that is
// signed over them as they are is good exactly when their forms are.
func FuzzSignedHeaders(f *testing.F) {
	a := updated(f, dbtest.New(f, dbtest.SQLite))
	_, pair, err := a.RevealCredential(f.Context(), operator, 1)
	if err != nil {
		f.Fatal(err)
	}
	a.started = noon.Add(-time.Hour)
	now := strconv.FormatInt(noon.Unix(), 10)
	f.Add(pair.Key, now, "nonce-0001", "00", "GET", "/", []byte("{}"))
	f.Add("", "", "", "", "", "", []byte(nil))
	f.Add("cak_x", "-1", "\n", "zz", "POST", "/?a\nb", []byte("x"))
	f.Add(pair.Key, "99999999999999999999", "nonce 0001", strings.Repeat("a", 64), "GET", "/", []byte("x"))
	f.Fuzz(func(t *testing.T, key, timestamp, nonce, signature, method, path string, body []byte) {
		r := SignedRequest{
			Key: key, Timestamp: timestamp, Nonce: nonce, Signature: signature, Method: method, PathAndQuery: path, BodySHA256: sha256.Sum256(body),
		}
		if actor, err := a.Signed(t.Context(), client, r); err == nil {
			t.Errorf("%+v is taken for %+v", r, actor)
		}
		r.Key, r.Signature = pair.Key, sign(pair.Secret, r)
		_, timeErr := readTimestamp(timestamp, noon)
		_, err := a.Signed(t.Context(), client, r)
		if wellFormedCall := timeErr == nil && noncePattern.MatchString(nonce); !wellFormedCall && err == nil {
			t.Errorf("%+v is good", r)
		} else if code := codeOf(err); wellFormedCall && err != nil && code != "nonce_used" {
			t.Errorf("%+v: %v", r, err)
		}
	})
}

// An address of a store has one form, which is an address again.
func FuzzStoreAddress(f *testing.F) {
	for _, seed := range []string{
		"https://store.example", " HTTPS://Store.Example:443/a/ ", "http://localhost:80", "http://[::1]:8080/", "https://bücher.example/a%2Fb", "https://a:b@c", "https://a?b", "https://a#b", "https://:1", "store",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		one, problem := checkStore(text)
		if problem != "" {
			return
		}
		if again, problem := checkStore(one); again != one || problem != "" {
			t.Errorf("%q is %q, and that is %q, %s", text, one, again, problem)
		}
		if u, err := url.Parse(one); err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			t.Errorf("%q is taken as %q", text, one)
		}
	})
}
