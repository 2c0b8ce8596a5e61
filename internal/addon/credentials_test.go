package addon

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/token"
)

// sign returns the signature of a call, in hex.
func sign(secret string, r SignedRequest) string { return hex.EncodeToString(mac(secret, r)) }

func TestPairIsMadeShownAndRotated(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		c, pair, err := f.CreateCredential(ctx, operator, " App server ")
		if err != nil {
			t.Fatal(err)
		}
		if c.Label != "App server" || !c.Active() || !token.Valid(prefixKey, pair.Key) || !token.Valid(prefixSecret, pair.Secret) {
			t.Errorf("%+v", c)
		}
		if c.Key != token.Hint(pair.Key) || c.Secret != token.Hint(pair.Secret) || fmt.Sprintf("%v|%+v|%s", pair, pair, pair) != strings.Repeat("|(a pair of API key and secret)", 3)[1:] {
			t.Errorf("a list shows %q and %q, a text %v", c.Key, c.Secret, pair)
		}
		_, shown, err := f.RevealCredential(ctx, user, c.ID)
		if err != nil || shown != pair {
			t.Errorf("revealed another pair: %v", err)
		}
		_, rotated, err := f.RotateCredential(ctx, operator, c.ID)
		if err != nil || rotated.Key == pair.Key || rotated.Secret == pair.Secret {
			t.Errorf("not rotated: %v", err)
		}
		_, err = f.Basic(ctx, client, pair.Key, pair.Secret)
		wantError(t, err, "credential_unknown")
		_, err = f.Basic(ctx, client, rotated.Key, rotated.Secret)
		wantError(t, err, "")
		_, _, err = f.CreateCredential(ctx, operator, "App server")
		wantError(t, err, "label_exists")
		for _, label := range []string{"", " ", "a\nb", strings.Repeat("x", 101)} {
			_, _, err = f.CreateCredential(ctx, operator, label)
			wantFields(t, err, "label")
		}
		lines := strings.Join(f.audits(t), "\n")
		for _, want := range []string{
			"tester credential.create 2 App server [cli]:  -> key active, secret active",
			"ana@site.example credential.reveal 2 App server [page]:  -> ",
			"tester credential.rotate 2 App server [cli]: " + c.Key + " -> " + token.Hint(rotated.Key),
		} {
			if !strings.Contains(lines, want) {
				t.Errorf("no line %q in\n%s", want, lines)
			}
		}
		for _, secret := range []string{pair.Key, pair.Secret, rotated.Key, rotated.Secret} {
			if strings.Contains(f.everything(t), secret) || strings.Contains(f.log.String(), secret) {
				t.Error("a value is written in clear")
			}
		}
	})
}

func TestMissingPairs(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		_, err1 := f.Credential(ctx, operator, 9)
		_, _, err2 := f.RevealCredential(ctx, operator, 9)
		_, _, err3 := f.RotateCredential(ctx, operator, 9)
		_, err4 := f.SetCredentialActive(ctx, operator, 9, HalfBoth, true)
		for _, err := range []error{err1, err2, err3, err4} {
			wantError(t, err, "credential_not_found")
		}
		_, err := f.SetCredentialActive(ctx, operator, 1, "neither", true)
		wantFields(t, err, "half")
	})
}

// Every combination of the two switches; a call needs both.
func TestCallsNeedBothHalves(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		c, pair, err := f.CreateCredential(ctx, operator, "App server")
		if err != nil {
			t.Fatal(err)
		}
		for i, halves := range [][2]bool{{true, true}, {true, false}, {false, true}, {false, false}} {
			if _, err := f.SetCredentialActive(ctx, operator, c.ID, HalfKey, halves[0]); err != nil {
				t.Fatal(err)
			}
			got, err := f.SetCredentialActive(ctx, operator, c.ID, HalfSecret, halves[1])
			if err != nil || got.KeyActive != halves[0] || got.SecretActive != halves[1] {
				t.Fatalf("%+v, %v", got, err)
			}
			want := "credential_inactive"
			if i == 0 {
				want = ""
			}
			_, err = f.Basic(ctx, client, pair.Key, pair.Secret)
			wantError(t, err, want)
			_, err = f.Signed(ctx, client, f.sign(pair, "nonce-000"+strconv.Itoa(i)))
			wantError(t, err, want)
			// Who can't prove the secret does not learn of the switches.
			_, err = f.Basic(ctx, client, pair.Key, "cas_wrong")
			wantError(t, err, "credential_unknown")
		}
		if got, err := f.SetCredentialActive(ctx, operator, c.ID, HalfBoth, true); err != nil || !got.Active() {
			t.Errorf("%+v, %v", got, err)
		}
		lines := f.audits(t)
		if want := "tester credential.activate 2 App server [cli]: key inactive, secret inactive -> key active, secret active"; lines[len(lines)-1] != want {
			t.Errorf("audit %q, want %q", lines[len(lines)-1], want)
		}
	})
}

// sign makes a good call.
func (f *fixture) sign(pair Pair, nonce string) SignedRequest {
	r := SignedRequest{
		Key: pair.Key, Timestamp: strconv.FormatInt(f.clock.Now().Unix(), 10), Nonce: nonce, Method: "POST",
		PathAndQuery: "/api-addons/admin/app/settings?x=1", BodySHA256: sha256.Sum256([]byte(`{"a":1}`)),
	}
	r.Signature = sign(pair.Secret, r)
	return r
}

// The signature was computed by another program:
// printf 'POST\n/p?q=1\n1793534400\nnonce-01\n%s' "$(printf '{}' | sha256sum | cut -c1-64)" | openssl dgst -sha256 -hmac cas_secret
func TestSignatureIsTheDocumentedOne(t *testing.T) {
	r := SignedRequest{Method: "POST", PathAndQuery: "/p?q=1", Timestamp: "1793534400", Nonce: "nonce-01", BodySHA256: sha256.Sum256([]byte("{}"))}
	if got, want := sign("cas_secret", r), "2196b45e7fc5160699bf12345597cfc476dbb4f79e106fbd34a0ac3b07bfb37b"; got != want {
		t.Errorf("signature %s, want %s", got, want)
	}
}

func TestSignedCallIsTheProgramThatHoldsThePair(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		_, pair, err := f.RevealCredential(t.Context(), operator, 1)
		if err != nil {
			t.Fatal(err)
		}
		actor, err := f.Signed(t.Context(), client, f.sign(pair, "nonce-0001"))
		want := people.Actor{Kind: people.KindKey, ID: "1 First pair", Face: people.FaceAPI, Addr: client, Secret: true}
		if err != nil || actor != want {
			t.Errorf("%+v, %v", actor, err)
		}
	})
}

func TestSignedCallsThatAreRefused(t *testing.T) {
	other := token.New(prefixKey)
	cases := []struct {
		name   string
		change func(r *SignedRequest, pair Pair)
		code   string
	}{
		{"another method", func(r *SignedRequest, _ Pair) { r.Method = "GET" }, "credential_unknown"},
		{"another path", func(r *SignedRequest, _ Pair) { r.PathAndQuery = "/api-addons/admin/app/settings" }, "credential_unknown"},
		{"another body", func(r *SignedRequest, _ Pair) { r.BodySHA256[0] ^= 1 }, "credential_unknown"},
		{"another nonce", func(r *SignedRequest, _ Pair) { r.Nonce += "x" }, "credential_unknown"},
		{"another time", func(r *SignedRequest, _ Pair) { r.Timestamp = strconv.FormatInt(noon.Unix()+1, 10) }, "credential_unknown"},
		{"the signature of another secret", func(r *SignedRequest, _ Pair) { r.Signature = sign("cas_x", *r) }, "credential_unknown"},
		{"the signature in capitals is good", func(r *SignedRequest, _ Pair) { r.Signature = strings.ToUpper(r.Signature) }, ""},
		{"half a signature", func(r *SignedRequest, _ Pair) { r.Signature = r.Signature[:32] }, "credential_unknown"},
		{"no signature", func(r *SignedRequest, _ Pair) { r.Signature = "" }, "credential_unknown"},
		{"a signature that is not hex", func(r *SignedRequest, _ Pair) { r.Signature = strings.Repeat("g", 64) }, "credential_unknown"},
		{"an unknown key", func(r *SignedRequest, _ Pair) { r.Key = other }, "credential_unknown"},
		{"a key with a typo", func(r *SignedRequest, _ Pair) { r.Key = r.Key[:len(r.Key)-1] + "!" }, "credential_unknown"},
		{"no key", func(r *SignedRequest, _ Pair) { r.Key = "" }, "credential_unknown"},
		{"the secret as key", func(r *SignedRequest, p Pair) { r.Key = p.Secret }, "credential_unknown"},
		{"no time", func(r *SignedRequest, p Pair) { r.Timestamp = ""; r.Signature = sign(p.Secret, *r) }, "timestamp_invalid"},
		{"a time that is no number", func(r *SignedRequest, p Pair) { r.Timestamp = "now"; r.Signature = sign(p.Secret, *r) }, "timestamp_invalid"},
		{"a time with a sign", func(r *SignedRequest, p Pair) { r.Timestamp = "+1793534400"; r.Signature = sign(p.Secret, *r) }, "timestamp_invalid"},
		{"a time in milliseconds", func(r *SignedRequest, p Pair) { r.Timestamp += "000"; r.Signature = sign(p.Secret, *r) }, "timestamp_invalid"},
		{"300 seconds ago is good", at(-300), ""},
		{"301 seconds ago", at(-301), "timestamp_invalid"},
		{"300 seconds ahead is good", at(300), ""},
		{"301 seconds ahead", at(301), "timestamp_invalid"},
		{"no nonce", func(r *SignedRequest, p Pair) { r.Nonce = ""; r.Signature = sign(p.Secret, *r) }, "nonce_invalid"},
		{"a short nonce", func(r *SignedRequest, p Pair) { r.Nonce = "1234567"; r.Signature = sign(p.Secret, *r) }, "nonce_invalid"},
		{"a long nonce", func(r *SignedRequest, p Pair) { r.Nonce = strings.Repeat("n", 129); r.Signature = sign(p.Secret, *r) }, "nonce_invalid"},
		{"a nonce of two lines", func(r *SignedRequest, p Pair) { r.Nonce = "12345678\n"; r.Signature = sign(p.Secret, *r) }, "nonce_invalid"},
	}
	engines(t, func(t *testing.T, f *fixture) {
		_, pair, err := f.RevealCredential(t.Context(), operator, 1)
		if err != nil {
			t.Fatal(err)
		}
		f.started = noon.Add(-time.Hour)
		for i, c := range cases {
			r := f.sign(pair, fmt.Sprintf("nonce-%04d", i))
			c.change(&r, pair)
			_, err := f.Signed(t.Context(), client, r)
			if codeOf(err) != c.code {
				t.Errorf("%s: %v, want %q", c.name, err, c.code)
			}
			if e := new(countersign.Error); err != nil && (!asError(err, &e) || e.Kind != countersign.KindUnauthorized) {
				t.Errorf("%s: %v is not of the kind unauthorized", c.name, err)
			}
		}
	})
}

// at moves the time of a call and signs it anew.
func at(seconds int64) func(*SignedRequest, Pair) {
	return func(r *SignedRequest, p Pair) {
		r.Timestamp = strconv.FormatInt(noon.Unix()+seconds, 10)
		r.Signature = sign(p.Secret, *r)
	}
}

func TestSignedCallIsGoodOnce(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		_, pair, err := f.RevealCredential(ctx, operator, 1)
		if err != nil {
			t.Fatal(err)
		}
		ahead := f.sign(pair, "nonce-ahead")
		at(300)(&ahead, pair)
		if _, err := f.Signed(ctx, client, ahead); err != nil {
			t.Fatal(err)
		}
		// Its time stays in the window for ten minutes, and so does its nonce.
		for range 10 {
			_, err = f.Signed(ctx, client, ahead)
			wantError(t, err, "nonce_used")
			f.clock.move(time.Minute)
		}
		_, err = f.Signed(ctx, client, ahead)
		wantError(t, err, "nonce_used")
		f.clock.move(time.Second)
		_, err = f.Signed(ctx, client, ahead)
		wantError(t, err, "timestamp_invalid")
		// A new call may use the text again by then, and clears what is forgotten.
		if _, err := f.Signed(ctx, client, f.sign(pair, "nonce-ahead")); err != nil {
			t.Error(err)
		}
		f.clock.move(11 * time.Minute)
		if _, err := f.Signed(ctx, client, f.sign(pair, "nonce-later")); err != nil || len(f.nonces.until) != 1 {
			t.Errorf("%d nonces are remembered, %v", len(f.nonces.until), err)
		}
		// A refused call does not use its nonce up.
		bad := f.sign(pair, "nonce-again")
		bad.Method = "GET"
		_, err = f.Signed(ctx, client, bad)
		wantError(t, err, "credential_unknown")
		_, err = f.Signed(ctx, client, f.sign(pair, "nonce-again"))
		wantError(t, err, "")
	})
}

// The memory of nonces ends with the process: what an earlier one has served must not
// be good again.
func TestACallThatWasSignedBeforeTheStartIsRefused(t *testing.T) {
	for _, c := range []struct {
		rule        string
		started, at time.Duration // before noon, which is now
		code        string
	}{
		{"a second before the start", 10 * time.Second, 11 * time.Second, "timestamp_before_start"},
		{"five minutes old, just after a start", 0, 300 * time.Second, "timestamp_before_start"},
		{"in the second of the start", 10 * time.Second, 10 * time.Second, ""},
		{"in the second of the start, which was in its middle", 9500 * time.Millisecond, 10 * time.Second, ""},
		{"a second before a start in the middle of one", 9500 * time.Millisecond, 11 * time.Second, "timestamp_before_start"},
		{"after the start", 10 * time.Second, 9 * time.Second, ""},
		{"by a clock that is ahead", 0, -60 * time.Second, ""},
		{"older than the window in any case", 0, 301 * time.Second, "timestamp_invalid"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			f := updated(t, dbtest.New(t, dbtest.SQLite))
			_, pair, err := f.RevealCredential(t.Context(), operator, 1)
			if err != nil {
				t.Fatal(err)
			}
			f.started = noon.Add(-c.started)
			r := f.sign(pair, "nonce-0001")
			at(-int64(c.at/time.Second))(&r, pair)
			_, err = f.Signed(t.Context(), client, r)
			wantError(t, err, c.code)
			r.Signature = sign("cas_x", r) // a stranger learns nothing of the start
			if _, err := f.Signed(t.Context(), client, r); c.code == "timestamp_before_start" && codeOf(err) != "credential_unknown" {
				t.Errorf("a stranger is told %v", err)
			}
		})
	}
}

// Of many who send the same signed call at once, one is served.
func TestSignedCallSentManyTimesAtOnce(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		_, pair, err := f.RevealCredential(t.Context(), operator, 1)
		if err != nil {
			t.Fatal(err)
		}
		r := f.sign(pair, "nonce-0001")
		var work sync.WaitGroup
		served := make(chan struct{}, 16)
		for range cap(served) {
			work.Go(func() {
				if _, err := f.Signed(t.Context(), client, r); err == nil {
					served <- struct{}{}
				}
			})
		}
		work.Wait()
		if len(served) != 1 {
			t.Errorf("%d were served", len(served))
		}
	})
}

func TestLastUseIsWrittenInBatches(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		_, pair, err := f.RevealCredential(ctx, operator, 1)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			if _, err := f.Basic(ctx, netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), pair.Key, pair.Secret); err != nil {
				t.Fatal(err)
			}
		}
		_, _ = f.Basic(ctx, client, pair.Key, "wrong")
		if c, err := f.Credential(ctx, operator, 1); err != nil || c.UsedCount != 0 || !c.LastUsedAt.IsZero() {
			t.Errorf("written at once: %+v, %v", c, err)
		}
		f.writeUses(ctx)
		if c, err := f.Credential(ctx, operator, 1); err != nil || c.UsedCount != 3 || !c.LastUsedAt.Equal(noon) || c.LastUsedFrom != "192.0.2.2" {
			t.Errorf("%+v, %v", c, err)
		}
	})
}

func TestWhoMay(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		calls := map[string]func(a people.Actor) error{
			"Settings":    func(a people.Actor) error { _, err := f.Settings.Draft(ctx, a); return err },
			"SetSettings": func(a people.Actor) error { _, err := f.Settings.Set(ctx, a, 0, nil); return err },
			"AddKey": func(a people.Actor) error {
				_, err := f.Settings.AddKey(ctx, a, 1<<40, "k", settings.TypeText, "")
				return err
			},
			"RemoveKey":  func(a people.Actor) error { _, err := f.Settings.RemoveKey(ctx, a, 1<<40, "k", nil); return err },
			"Publish":    func(a people.Actor) error { _, err := f.Settings.Publish(ctx, a, 0, ""); return err },
			"Versions":   func(a people.Actor) error { _, err := f.Settings.Versions(ctx, a, 0, 0); return err },
			"Version":    func(a people.Actor) error { _, err := f.Settings.Version(ctx, a, 1); return err },
			"Rollback":   func(a people.Actor) error { _, err := f.Settings.Rollback(ctx, a, 1, ""); return err },
			"Preview":    func(a people.Actor) error { _, err := f.Settings.Preview(ctx, a); return err },
			"Packages":   func(a people.Actor) error { _, err := f.IAP.Packages(ctx, a); return err },
			"Products":   func(a people.Actor) error { _, err := f.IAP.Products(ctx, a); return err },
			"DeclineIAP": func(a people.Actor) error { return f.IAP.Decline(ctx, a, false) },

			"Credentials":         func(a people.Actor) error { _, err := f.Credentials(ctx, a); return err },
			"CreateCredential":    func(a people.Actor) error { _, _, err := f.CreateCredential(ctx, a, ""); return err },
			"RevealCredential":    func(a people.Actor) error { _, _, err := f.RevealCredential(ctx, a, 1); return err },
			"RotateCredential":    func(a people.Actor) error { _, _, err := f.RotateCredential(ctx, a, 1); return err },
			"SetCredentialActive": func(a people.Actor) error { _, err := f.SetCredentialActive(ctx, a, 1, HalfKey, true); return err },
			"Licenses":            func(a people.Actor) error { _, err := f.Licenses(ctx, a); return err },
			"License":             func(a people.Actor) error { _, _, err := f.License(ctx, a, 1); return err },
			"MakeLicenses":        func(a people.Actor) error { _, err := f.MakeLicenses(ctx, a, LicenseOrder{}); return err },
			"MoveLicense":         func(a people.Actor) error { _, err := f.MoveLicense(ctx, a, 1, "a.example", "b.example"); return err },
			"CheckLicense":        func(a people.Actor) error { _, err := f.CheckLicense(ctx, a, 1); return err },
			"SetStore":            func(a people.Actor) error { return f.SetStore(ctx, a, "", "") },
			"Requests":            func(a people.Actor) error { _, err := f.Requests(ctx, a); return err },
			"Plan":                func(a people.Actor) error { _, err := f.Plan(ctx, a); return err },
			"Update":              func(a people.Actor) error { _, err := f.Update(ctx, a, nil); return err },
			"NewWebToken":         func(a people.Actor) error { _, _, err := f.NewWebToken(ctx, a); return err },
			"NewSetupLink":        func(a people.Actor) error { _, _, err := f.NewSetupLink(ctx, a); return err },
			"Checklist":           func(a people.Actor) error { _, err := f.Checklist(ctx, a); return err },
		}
		forPrograms := []string{
			"Settings", "SetSettings", "AddKey", "RemoveKey", "Publish", "Versions", "Version", "Rollback", "Preview",
			"Packages", "Products", "DeclineIAP",
		}
		publishable := program
		publishable.Secret = false
		for name, call := range calls {
			for who, c := range map[string]struct {
				actor people.Actor
				may   bool
			}{
				"the operator":                        {operator, true},
				"a user":                              {user, !slices.Contains([]string{"NewWebToken", "NewSetupLink"}, name)},
				"a program with the site's pair":      {program, slices.Contains(forPrograms, name)},
				"a program with something less":       {publishable, false},
				"nobody":                              {people.Actor{}, false},
				"a sort of actor that does not exist": {people.Actor{Kind: "root"}, false},
			} {
				if got := codeOf(call(c.actor)) != "not_allowed"; got != c.may {
					t.Errorf("%s by %s: allowed is %t", name, who, got)
				}
			}
		}
	})
}
