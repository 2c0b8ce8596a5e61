package credential_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/credential"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/token"
)

// sign returns the signature of a call, in hex.
func sign(secret string, r credential.SignedRequest) string {
	return hex.EncodeToString(credential.MAC(secret, r))
}

// signed creates a valid call.
func signed(f *addontest.Fixture, pair credential.Values, nonce string) credential.SignedRequest {
	r := credential.SignedRequest{
		Key: pair.Key, Timestamp: strconv.FormatInt(f.Clock.Now().Unix(), 10), Nonce: nonce, Method: "POST",
		PathAndQuery: "/api-addons/admin/app/settings?x=1", BodySHA256: sha256.Sum256([]byte(`{"a":1}`)),
	}
	r.Signature = sign(pair.Secret, r)
	return r
}

// The signature was computed by another program:
// printf 'POST\n/p?q=1\n1793534400\nnonce-01\n%s' "$(printf '{}' | sha256sum | cut -c1-64)" | openssl dgst -sha256 -hmac cas_secret
func TestSignatureIsTheDocumentedOne(t *testing.T) {
	r := credential.SignedRequest{Method: "POST", PathAndQuery: "/p?q=1", Timestamp: "1793534400", Nonce: "nonce-01", BodySHA256: sha256.Sum256([]byte("{}"))}
	if got, want := sign("cas_secret", r), "2196b45e7fc5160699bf12345597cfc476dbb4f79e106fbd34a0ac3b07bfb37b"; got != want {
		t.Errorf("signature %s, want %s", got, want)
	}
}

func TestSignedCallIsTheProgramThatHoldsThePair(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		_, pair, err := f.Credentials.Reveal(t.Context(), operator, 1)
		must.Do(t, err)
		actor, err := f.Credentials.Signed(t.Context(), client, signed(f, pair, "nonce-0001"))
		want := people.Actor{Kind: people.KindKey, ID: "1 First pair", FrontEnd: people.FrontEndAPI, Addr: client, Secret: true}
		if err != nil || actor != want {
			t.Errorf("%+v, %v", actor, err)
		}
	})
}

func TestSignedCallsThatAreRefused(t *testing.T) {
	other := token.New("cak_")
	cases := []struct {
		name   string
		change func(r *credential.SignedRequest, pair credential.Values)
		code   string
	}{
		{"another method", func(r *credential.SignedRequest, _ credential.Values) { r.Method = "GET" }, "credential_unknown"},
		{"another path", func(r *credential.SignedRequest, _ credential.Values) {
			r.PathAndQuery = "/api-addons/admin/app/settings"
		}, "credential_unknown"},
		{"another body", func(r *credential.SignedRequest, _ credential.Values) { r.BodySHA256[0] ^= 1 }, "credential_unknown"},
		{"another nonce", func(r *credential.SignedRequest, _ credential.Values) { r.Nonce += "x" }, "credential_unknown"},
		{"another time", func(r *credential.SignedRequest, _ credential.Values) {
			r.Timestamp = strconv.FormatInt(noon.Unix()+1, 10)
		}, "credential_unknown"},
		{"the signature of another secret", func(r *credential.SignedRequest, _ credential.Values) { r.Signature = sign("cas_x", *r) }, "credential_unknown"},
		{"the signature in capitals is good", func(r *credential.SignedRequest, _ credential.Values) { r.Signature = strings.ToUpper(r.Signature) }, ""},
		{"half a signature", func(r *credential.SignedRequest, _ credential.Values) { r.Signature = r.Signature[:32] }, "credential_unknown"},
		{"no signature", func(r *credential.SignedRequest, _ credential.Values) { r.Signature = "" }, "credential_unknown"},
		{"a signature that is not hex", func(r *credential.SignedRequest, _ credential.Values) { r.Signature = strings.Repeat("g", 64) }, "credential_unknown"},
		{"an unknown key", func(r *credential.SignedRequest, _ credential.Values) { r.Key = other }, "credential_unknown"},
		{"a key with a typo", func(r *credential.SignedRequest, _ credential.Values) { r.Key = r.Key[:len(r.Key)-1] + "!" }, "credential_unknown"},
		{"no key", func(r *credential.SignedRequest, _ credential.Values) { r.Key = "" }, "credential_unknown"},
		{"the secret as key", func(r *credential.SignedRequest, p credential.Values) { r.Key = p.Secret }, "credential_unknown"},
		{"no time", resigned(func(r *credential.SignedRequest) { r.Timestamp = "" }), "timestamp_invalid"},
		{"a time that is not a number", resigned(func(r *credential.SignedRequest) { r.Timestamp = "now" }), "timestamp_invalid"},
		{"a time with a sign", resigned(func(r *credential.SignedRequest) { r.Timestamp = "+1793534400" }), "timestamp_invalid"},
		{"a time in milliseconds", resigned(func(r *credential.SignedRequest) { r.Timestamp += "000" }), "timestamp_invalid"},
		{"300 seconds ago is good", at(-300), ""},
		{"301 seconds ago", at(-301), "timestamp_invalid"},
		{"300 seconds ahead is good", at(300), ""},
		{"301 seconds ahead", at(301), "timestamp_invalid"},
		{"no nonce", resigned(func(r *credential.SignedRequest) { r.Nonce = "" }), "nonce_invalid"},
		{"a short nonce", resigned(func(r *credential.SignedRequest) { r.Nonce = "1234567" }), "nonce_invalid"},
		{"a long nonce", resigned(func(r *credential.SignedRequest) { r.Nonce = strings.Repeat("n", 129) }), "nonce_invalid"},
		{"a nonce of two lines", resigned(func(r *credential.SignedRequest) { r.Nonce = "12345678\n" }), "nonce_invalid"},
	}
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		_, pair, err := f.Credentials.Reveal(t.Context(), operator, 1)
		must.Do(t, err)
		f.Credentials.SetStarted(noon.Add(-time.Hour))
		for i, c := range cases {
			r := signed(f, pair, fmt.Sprintf("nonce-%04d", i))
			c.change(&r, pair)
			_, err := f.Credentials.Signed(t.Context(), client, r)
			expect.Equalf(t, addontest.CodeOf(err), c.code, "%s: %v", c.name, err)
			if e := new(countersign.Error); err != nil && (!errors.As(err, &e) || e.Kind != countersign.KindUnauthorized) {
				t.Errorf("%s: %v is not of the kind unauthorized", c.name, err)
			}
		}
	})
}

// resigned changes a call and signs it again.
func resigned(change func(*credential.SignedRequest)) func(*credential.SignedRequest, credential.Values) {
	return func(r *credential.SignedRequest, p credential.Values) {
		change(r)
		r.Signature = sign(p.Secret, *r)
	}
}

// at moves the time of a call and signs it again.
func at(seconds int64) func(*credential.SignedRequest, credential.Values) {
	return resigned(func(r *credential.SignedRequest) { r.Timestamp = strconv.FormatInt(noon.Unix()+seconds, 10) })
}

func TestSignedCallIsGoodOnce(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ctx := t.Context()
		_, pair, err := f.Credentials.Reveal(ctx, operator, 1)
		must.Do(t, err)
		ahead := signed(f, pair, "nonce-ahead")
		at(300)(&ahead, pair)
		must.Get(f.Credentials.Signed(ctx, client, ahead))(t)
		// Its time stays in the window for ten minutes, and so does its nonce.
		for range 10 {
			_, err = f.Credentials.Signed(ctx, client, ahead)
			addontest.WantError(t, err, "nonce_used")
			f.Clock.Move(time.Minute)
		}
		_, err = f.Credentials.Signed(ctx, client, ahead)
		addontest.WantError(t, err, "nonce_used")
		f.Clock.Move(time.Second)
		_, err = f.Credentials.Signed(ctx, client, ahead)
		addontest.WantError(t, err, "timestamp_invalid")
		f.Credentials.PruneNonces(ctx) // a server whose clock is behind still accepts the call
		expect.Equalf(t, stored(t, f), 1, "nonces are stored")
		f.Clock.Move(5 * time.Minute)
		f.Credentials.PruneNonces(ctx)
		if _, err := f.Credentials.Signed(ctx, client, signed(f, pair, "nonce-later")); err != nil || f.Credentials.Nonces() != 1 || stored(t, f) != 1 {
			t.Errorf("%d nonces are remembered and %d stored, %v", f.Credentials.Nonces(), stored(t, f), err)
		}
		// A refused call does not use its nonce up.
		bad := signed(f, pair, "nonce-again")
		bad.Method = "GET"
		_, err = f.Credentials.Signed(ctx, client, bad)
		addontest.WantError(t, err, "credential_unknown")
		_, err = f.Credentials.Signed(ctx, client, signed(f, pair, "nonce-again"))
		addontest.WantError(t, err, "")
	})
}

// stored counts the nonces in the database.
func stored(t *testing.T, f *addontest.Fixture) int64 {
	t.Helper()
	n := must.Get(sqldb.One(t.Context(), f.Credentials.DB().Queries.DB().Queries(), sqldb.Value[int64], `SELECT count(*) FROM nonces`))(t)
	return n
}

func TestNoProcessServesACallAgain(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		_, pair, err := f.Credentials.Reveal(t.Context(), operator, 1)
		must.Do(t, err)
		const calls = 20
		processes := []*addontest.Fixture{f, f.Again(t)}
		served := [calls]atomic.Int64{}
		var work sync.WaitGroup
		for i := range calls {
			r := signed(f, pair, fmt.Sprintf("nonce-%04d", i))
			for _, process := range processes {
				work.Go(func() {
					_, err := process.Credentials.Signed(t.Context(), client, r)
					if err == nil {
						served[i].Add(1)
					} else if code := addontest.CodeOf(err); code != "nonce_used" {
						t.Errorf("call %d: %v", i, err)
					}
				})
			}
		}
		work.Wait()
		for i := range served {
			if n := served[i].Load(); n != 1 {
				t.Errorf("call %d was served %d times", i, n)
			}
		}

		f.Clock.Move(time.Minute)
		restarted := f.Again(t)
		fresh := signed(f, pair, "nonce-fresh")
		at(0)(&fresh, pair) // before the start
		for _, want := range []string{"", "nonce_used"} {
			_, err := restarted.Credentials.Signed(t.Context(), client, fresh)
			addontest.WantError(t, err, want)
		}
		before := stored(t, f)
		read := signed(f, pair, "nonce-0001")
		read.Method, read.Signature = "GET", ""
		_, err = restarted.Credentials.Signed(t.Context(), client, read)
		addontest.WantError(t, err, "credential_unknown")
		read.Signature = sign(pair.Secret, read)
		_, err = restarted.Credentials.Signed(t.Context(), client, read)
		addontest.WantError(t, err, "nonce_used")
		read.Nonce, read.Signature = "nonce-wrong", sign("cas_x", read)
		_, err = restarted.Credentials.Signed(t.Context(), client, read)
		addontest.WantError(t, err, "credential_unknown")
		if n := stored(t, f); n != before {
			t.Errorf("refused calls have written %d nonces", n-before)
		}
	})
}

func TestWhileNothingCanBeWrittenReadsAreServedOnceByEachProcessSinceItsStart(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		_, pair, err := f.Credentials.Reveal(t.Context(), operator, 1)
		must.Do(t, err)
		addontest.Execute(t, f.At, `ALTER TABLE nonces RENAME TO away`)
		for i, c := range []struct {
			rule        string
			method      string
			started, at time.Duration // before noon, which is now
			codes       [2]string     // of the call and its repetition
		}{
			{"a write", "POST", 10 * time.Second, 9 * time.Second, [2]string{"unavailable", "nonce_used"}},
			{"a second before the start", "GET", 10 * time.Second, 11 * time.Second, [2]string{"timestamp_before_start", "nonce_used"}},
			{"in the second of the start, which was in its middle", "GET", 9500 * time.Millisecond, 10 * time.Second, [2]string{"", "nonce_used"}},
			{"a second before a start in the middle of one", "GET", 9500 * time.Millisecond, 11 * time.Second, [2]string{"timestamp_before_start", "nonce_used"}},
			{"after the start", "HEAD", 10 * time.Second, 9 * time.Second, [2]string{"", "nonce_used"}},
			{"by a clock that is ahead", "GET", 0, -60 * time.Second, [2]string{"", "nonce_used"}},
			{"older than the window", "GET", 0, 301 * time.Second, [2]string{"timestamp_invalid", "timestamp_invalid"}},
		} {
			f.Credentials.SetStarted(noon.Add(-c.started))
			r := signed(f, pair, fmt.Sprintf("nonce-%04d", i))
			r.Method = c.method
			at(-int64(c.at/time.Second))(&r, pair)
			for _, code := range c.codes {
				if _, err := f.Credentials.Signed(t.Context(), client, r); addontest.CodeOf(err) != code {
					t.Errorf("%s: %v, want %q", c.rule, err, code)
				}
			}
		}
	})
}

// Of many who send the same signed call at once, one is served.
func TestSignedCallSentManyTimesAtOnce(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		_, pair, err := f.Credentials.Reveal(t.Context(), operator, 1)
		must.Do(t, err)
		r := signed(f, pair, "nonce-0001")
		var work sync.WaitGroup
		served := make(chan struct{}, 16)
		for range cap(served) {
			work.Go(func() {
				if _, err := f.Credentials.Signed(t.Context(), client, r); err == nil {
					served <- struct{}{}
				}
			})
		}
		work.Wait()
		expect.Equalf(t, len(served), 1, "were served")
	})
}
