package iap_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
)

// otherKey is an RSA key like [addontest.Key].
var otherKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

func pemOf(kind string, body []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: body}))
}

func TestServiceAccountFilesAreRecognised(t *testing.T) {
	good, key := string(addontest.ServiceAccount(nil)), addontest.PrivateKey(addontest.Key())
	curve := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	cases := []struct {
		name, file string
		wrong      string // part of the sentence; "" for a good file
	}{
		{"the right file", good, ""},
		{"with spaces and a byte order mark", "\xef\xbb\xbf\n " + good + "\r\n", ""},
		{"a key in the older form", string(addontest.ServiceAccount(map[string]any{"private_key": pemOf("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(addontest.Key()))})), ""},
		{"without a project", string(addontest.ServiceAccount(map[string]any{"project_id": nil})), ""},
		{"without a token_uri", string(addontest.ServiceAccount(map[string]any{"token_uri": nil})), ""},
		{"a token_uri of before 2018", string(addontest.ServiceAccount(map[string]any{"token_uri": "https://accounts.google.com/o/oauth2/token"})), ""},
		{"a token_uri of before 2018 in version 4", string(addontest.ServiceAccount(map[string]any{"token_uri": "https://www.googleapis.com/oauth2/v4/token"})), ""},
		{"an old token_uri that is not served", string(addontest.ServiceAccount(map[string]any{"token_uri": "https://accounts.google.com/o/oauth2/v1/token"})), "an old form that the store no longer uses. Create a new key"},
		{"a token_uri that begins like an old one", string(addontest.ServiceAccount(map[string]any{"token_uri": "https://accounts.google.com.evil.example/o/oauth2/token"})), "token_uri must be"},
		{"line breaks that are escaped twice", strings.ReplaceAll(good, `\n`, `\\n`), ""},
		{"line breaks of Windows that are escaped twice", strings.ReplaceAll(good, `\n`, `\\r\\n`), ""},
		{"base64", base64.StdEncoding.EncodeToString([]byte(good)), "encoded in base64"},
		{"base64 in lines", regexp.MustCompile(`.{76}`).ReplaceAllString(base64.StdEncoding.EncodeToString([]byte("\n "+good)), "$0\r\n"), "encoded in base64"},
		{"base64 for URLs", base64.RawURLEncoding.EncodeToString([]byte(good)), "encoded in base64"},
		{"UTF-16, as Windows writes it", "\xff\xfe{\x00}\x00", "in UTF-16"},
		{"UTF-16 without a mark", "{\x00}\x00", "in UTF-16"},
		{"UTF-16, the other order", "\xfe\xff\x00{\x00}", "in UTF-16"},
		{"a private_key in base64", string(addontest.ServiceAccount(map[string]any{"private_key": base64.StdEncoding.EncodeToString([]byte(key))})), "encoded in base64 once more"},
		{"a token_uri at another host", string(addontest.ServiceAccount(map[string]any{"token_uri": "https://oauth2.example/token"})), "token_uri must be https://oauth2.googleapis.com/token"},
		{"a token_uri in the private network", string(addontest.ServiceAccount(map[string]any{"token_uri": "http://169.254.169.254/token"})), "token_uri must be"},
		{"a token_uri over http", string(addontest.ServiceAccount(map[string]any{"token_uri": "http://oauth2.googleapis.com/token"})), "token_uri must be"},
		{"a token_uri with another path", string(addontest.ServiceAccount(map[string]any{"token_uri": "https://oauth2.googleapis.com/token?x=1"})), "token_uri must be"},
		{"a token_uri that begins like the store's", string(addontest.ServiceAccount(map[string]any{"token_uri": "https://oauth2.googleapis.com.evil.example/token"})), "token_uri must be"},
		{"a token_uri with a user", string(addontest.ServiceAccount(map[string]any{"token_uri": "https://oauth2.googleapis.com@evil.example/token"})), "token_uri must be"},
		{"a token_uri that is not a string", string(addontest.ServiceAccount(map[string]any{"token_uri": 7})), "must be strings"},
		{"nothing", "", "is empty"},
		{"spaces", " \n", "is empty"},
		{"half of it", good[:len(good)/2], "not valid JSON"},
		{"a text", "hello", "not valid JSON"},
		{"a list", "[]", "expected a JSON object"},
		{"a string", `"x"`, "expected a JSON object"},
		{"an empty object", "{}", "type is missing"},
		{"a member twice", `{"type":"service_account","type":"service_account"}`, "not valid JSON"},
		{"google-services.json", `{"project_info":{"project_id":"x"},"client":[],"configuration_version":"1"}`, "google-services.json"},
		{"an OAuth client of an installed app", `{"installed":{"client_id":"x","client_secret":"y"}}`, "OAuth client file"},
		{"an OAuth client of a web app", `{"web":{"client_id":"x","client_secret":"y"}}`, "OAuth client file"},
		{"the inner part of an OAuth client", `{"client_id":"x","client_secret":"y"}`, "OAuth client file"},
		{"the sign-in of a person", `{"type":"authorized_user","client_id":"x","client_secret":"y","refresh_token":"z"}`, "sign-in of a person"},
		{"a federated identity", `{"type":"external_account","audience":"x"}`, "federated"},
		{"a web app's configuration", `{"apiKey":"x","authDomain":"y"}`, "configuration of a web app"},
		{"the product map", `{"store":{"gold":1}}`, "product map"},
		{"GoogleService-Info.plist", `<?xml version="1.0"?><!DOCTYPE plist><plist version="1.0"/>`, "GoogleService-Info.plist"},
		{"a web page", "<!doctype html><title>Sign in</title>", "web page"},
		{"a key alone", key, "only a key"},
		{"an API key", "AIzaSyA-1234567890", "API key"},
		{"a .p12 file", "\x30\x82\x0a\x00\x02\x01\x03", ".p12"},
		{"another type", string(addontest.ServiceAccount(map[string]any{"type": "user"})), "type is not service_account"},
		{"a type that is not a string", string(addontest.ServiceAccount(map[string]any{"type": 7})), "must be strings"},
		{"no client_email", string(addontest.ServiceAccount(map[string]any{"client_email": nil})), "client_email"},
		{"control characters", string(addontest.ServiceAccount(map[string]any{"client_email": "\x1b[2Jbilling@a.example"})), "client_email contains control characters"},
		{"control characters in a member that is not used", string(addontest.ServiceAccount(map[string]any{"client_id": "1\u202e2"})), "client_id contains control characters"},
		{"control characters in a name", string(addontest.ServiceAccount(map[string]any{"a\x1b[2J": "x"})), "The name of a member contains control characters"},
		{"a client_email that is not an address", string(addontest.ServiceAccount(map[string]any{"client_email": "billing"})), "client_email"},
		{"no private_key", string(addontest.ServiceAccount(map[string]any{"private_key": nil})), "it is missing"},
		{"a private_key without its line breaks", string(addontest.ServiceAccount(map[string]any{"private_key": strings.ReplaceAll(key, "\n", "")})), "its line breaks are missing"},
		{"a damaged private_key", string(addontest.ServiceAccount(map[string]any{"private_key": pemOf("PRIVATE KEY", []byte("damaged"))})), "damaged"},
		{"a certificate as private_key", string(addontest.ServiceAccount(map[string]any{"private_key": pemOf("CERTIFICATE", []byte("no key"))})), "damaged"},
		{"another kind of private_key", string(addontest.ServiceAccount(map[string]any{"private_key": addontest.PrivateKey(curve)})), "not an RSA key"},
		{"two private keys", string(addontest.ServiceAccount(map[string]any{"private_key": key + key})), "unexpected text after the PEM block"},
		{"a project with markup", string(addontest.ServiceAccount(map[string]any{"project_id": "<script>"})), "project_id"},
		{"a file that is too large", `{"type":"` + strings.Repeat("x", 70_000) + `"}`, "larger than 64 KB"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			checks, ok := iap.CheckServiceAccount([]byte(c.file))
			var wrong []string
			for _, one := range checks {
				if !one.OK {
					wrong = append(wrong, one.Text)
				}
				if strings.Contains(one.Text, "PRIVATE KEY-----\n") || strings.Contains(one.Text, "MII") {
					t.Errorf("%q shows the key", one.Text)
				}
			}
			if c.wrong == "" && (!ok || len(checks) < 4) {
				t.Errorf("refused: %q", wrong)
			}
			if c.wrong != "" && (ok || len(wrong) == 0 || !strings.Contains(wrong[0], c.wrong)) {
				t.Errorf("said %q, want %q", wrong, c.wrong)
			}
		})
	}
}

var fingerprintPattern = regexp.MustCompile(`^[0-9a-f]{16}$`)

func TestServiceAccountIsWriteOnly(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ctx := t.Context()
		facts := must.Get(f.Settings.SetServiceAccount(ctx, operator, 0, addontest.ServiceAccount(nil)))(t)
		if !facts.Set || facts.Type != "service_account" || facts.ClientEmail != "billing@tuneful-1.iam.example" || facts.Project != "tuneful-1" ||
			!fingerprintPattern.MatchString(facts.Fingerprint) || !facts.SetAt.Equal(addontest.Noon) {
			t.Errorf("facts %+v", facts)
		}
		f.MustPublish(t, "")
		draft, published, err := f.IAP.ServiceAccount(ctx, operator)
		if err != nil || draft != facts || published != facts {
			t.Errorf("draft %+v, published %+v, %v", draft, published, err)
		}
		shown := f.Value(t, iap.KeyServiceAccount)
		if !strings.Contains(shown, facts.ClientEmail) || !strings.Contains(shown, facts.Fingerprint) {
			t.Errorf("shown as %q", shown)
		}
		two, err := f.Settings.Version(ctx, operator, 2)
		if err != nil || len(two.Changes) != 1 || two.Changes[0].After != shown {
			t.Errorf("version %+v, %v", two.Changes, err)
		}
		wantNoSecret(t, f, addontest.PrivateKey(addontest.Key()))
	})
}

// wantNoSecret wants nothing of a key, nor its sealed file, in anything that is
// written or said.
func wantNoSecret(t *testing.T, f *addontest.Fixture, key string) {
	t.Helper()
	s := f.Draft(t)
	var said strings.Builder
	for _, one := range s.List {
		said.WriteString(one.Value + one.Published + string(one.JSON()))
	}
	next := must.Get(f.Settings.Preview(t.Context(), operator))(t)
	nextView := must.Get(f.IAP.Preview(t.Context(), operator))(t)
	middle := strings.Split(key, "\n")[5] // a line of the key's body
	for where, text := range map[string]string{
		"settings": said.String(), "database": f.Everything(t), "served": string(f.Served(t).JSON) + string(f.View(t).JSON),
		"preview": string(next) + string(nextView.JSON), "log": f.Log.String(),
	} {
		if strings.Contains(text, middle) || strings.Contains(text, "PRIVATE KEY") {
			t.Errorf("%s: the private key shows", where)
		}
	}
}

func TestSealedFilesDontShowInTheDatabaseFile(t *testing.T) {
	f := addontest.Updated(t, dbtest.New(t, dbtest.SQLite))
	must.Get(f.Settings.SetServiceAccount(t.Context(), operator, 0, addontest.ServiceAccount(nil)))(t)
	_, pair, err := f.Credentials.Create(t.Context(), operator, "second")
	must.Do(t, err)
	middle := strings.Split(addontest.PrivateKey(addontest.Key()), "\n")[5]
	for _, name := range []string{addon.Product.DatabaseName(), addon.Product.DatabaseName() + "-wal"} {
		content := must.Get(os.ReadFile(filepath.Join(f.At.Dir, name)))(t)
		for _, secret := range []string{middle, pair.Secret, pair.Key} {
			if strings.Contains(string(content), secret) {
				t.Errorf("%s holds a secret in clear", name)
			}
		}
	}
}

func TestSettingAServiceAccount(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ctx := t.Context()
		_, err := f.Settings.SetServiceAccount(ctx, operator, 0, []byte(`{"installed":{}}`))
		if e := addontest.WantFields(t, err, iap.KeyServiceAccount); !strings.Contains(e.Message, "OAuth client file") {
			t.Errorf("message %q", e.Message)
		}
		_, err = f.Settings.SetServiceAccount(ctx, operator, 0, nil)
		addontest.WantFields(t, err, iap.KeyServiceAccount)
		first := addontest.ServiceAccount(nil)
		must.Get(f.Settings.SetServiceAccount(ctx, operator, 0, first))(t)
		revision := f.Draft(t).Revision
		if _, err := f.Settings.SetServiceAccount(ctx, operator, 0, first); err != nil || f.Draft(t).Revision != revision {
			t.Errorf("the same file again counts as a change: %v", err)
		}
		// "" leaves it, as the empty field of a form does; so does null.
		f.MustSet(t, map[string]string{iap.KeyServiceAccount: "", settings.KeyAppName: "x"})
		must.Get(f.Settings.SetJSON(ctx, operator, settings.Edit{}, map[string]json.RawMessage{iap.KeyServiceAccount: json.RawMessage("null")}))(t)
		if f.Value(t, iap.KeyServiceAccount) == "" {
			t.Error("it is gone")
		}
		other := addontest.ServiceAccount(map[string]any{"private_key": addontest.PrivateKey(otherKey())})
		must.Get(f.Settings.SetJSON(ctx, operator, settings.Edit{}, map[string]json.RawMessage{iap.KeyServiceAccount: other}))(t)
		f.MustPublish(t, "")
		if err := f.Settings.RemoveServiceAccount(ctx, operator, 0); err != nil || f.Value(t, iap.KeyServiceAccount) != "" {
			t.Errorf("not removed: %v", err)
		}
		_, published, err := f.IAP.ServiceAccount(ctx, operator)
		if err != nil || !published.Set {
			t.Errorf("removed from what is published before a publish: %v", err)
		}
	})
}

// A rollback brings the service account of its version back.
func TestRollbackBringsTheServiceAccountBack(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ctx := t.Context()
		facts := must.Get(f.Settings.SetServiceAccount(ctx, operator, 0, addontest.ServiceAccount(nil)))(t)
		f.MustPublish(t, "")
		must.Do(t, f.Settings.RemoveServiceAccount(ctx, operator, 0))
		f.MustPublish(t, "")
		must.Get(f.Settings.Rollback(ctx, operator, 2, ""))(t)
		if draft, published, err := f.IAP.ServiceAccount(ctx, operator); err != nil || draft != facts || published != facts {
			t.Errorf("draft %+v, published %+v, %v", draft, published, err)
		}
	})
}

func TestKeptServiceAccountIsTestedWithoutBeingShown(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ctx := t.Context()
		_, _, err := f.IAP.TestServiceAccount(ctx, operator)
		addontest.WantError(t, err, "service_account_not_found")
		must.Get(f.Settings.SetServiceAccount(ctx, operator, 0, addontest.ServiceAccount(nil)))(t)
		checks, ok, err := f.IAP.TestServiceAccount(ctx, user)
		if err != nil || !ok || len(checks) < 5 {
			t.Errorf("%+v, %t, %v", checks, ok, err)
		}
		addontest.Execute(t, f.At, `UPDATE service_accounts SET sealed = key_sealed FROM credentials`)
		checks, ok, err = f.IAP.TestServiceAccount(ctx, user)
		if err != nil || ok || len(checks) != 1 {
			t.Errorf("%+v, %t, %v", checks, ok, err)
		}
	})
}

// A file that is not a service account is refused with a sentence that quotes nothing of it,
// and nothing else is accepted.
func FuzzServiceAccount(f *testing.F) {
	good := string(addontest.ServiceAccount(nil))
	for _, seed := range []string{
		good, "", "{}", "[]", `{"type":"service_account"}`, `{"installed":{}}`, addontest.PrivateKey(addontest.Key()), "AIza", "<plist>", "\x30\x82", good[:100],
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
