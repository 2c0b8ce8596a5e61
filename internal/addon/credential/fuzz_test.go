package credential_test

import (
	"crypto/sha256"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/credential"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
)

// Headers that nobody signed open nothing, whatever is in them, and a call that is
// signed over them as they are is good exactly when their forms are.
func FuzzSignedHeaders(f *testing.F) {
	a := addontest.Updated(f, dbtest.New(f, dbtest.SQLite))
	_, pair, err := a.Credentials.Reveal(f.Context(), operator, 1)
	must.Do(f, err)
	a.Credentials.SetStarted(noon.Add(-time.Hour))
	now := strconv.FormatInt(noon.Unix(), 10)
	f.Add(pair.Key, now, "nonce-0001", "00", "GET", "/", []byte("{}"))
	f.Add("", "", "", "", "", "", []byte(nil))
	f.Add("cak_x", "-1", "\n", "zz", "POST", "/?a\nb", []byte("x"))
	f.Add(pair.Key, "99999999999999999999", "nonce 0001", strings.Repeat("a", 64), "GET", "/", []byte("x"))
	f.Fuzz(func(t *testing.T, key, timestamp, nonce, signature, method, path string, body []byte) {
		r := credential.SignedRequest{
			Key: key, Timestamp: timestamp, Nonce: nonce, Signature: signature, Method: method, PathAndQuery: path, BodySHA256: sha256.Sum256(body),
		}
		if actor, err := a.Credentials.Signed(t.Context(), client, r); err == nil {
			t.Errorf("%+v is taken for %+v", r, actor)
		}
		r.Key, r.Signature = pair.Key, sign(pair.Secret, r)
		_, timeErr := credential.ReadTimestamp(timestamp, noon)
		_, err := a.Credentials.Signed(t.Context(), client, r)
		if wellFormedCall := timeErr == nil && credential.NoncePattern.MatchString(nonce); !wellFormedCall && err == nil {
			t.Errorf("%+v is good", r)
		} else if code := addontest.CodeOf(err); wellFormedCall && err != nil && code != "nonce_used" {
			t.Errorf("%+v: %v", r, err)
		}
	})
}
