package addon

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/dbtest"
)

// testKeys are made once: to make one takes a while.
var testKeys = sync.OnceValue(func() map[string]string {
	keys := map[string]string{}
	for name, bits := range map[string]int{"rsa": 2048, "other rsa": 2048} {
		key, err := rsa.GenerateKey(rand.Reader, bits)
		if err != nil {
			panic(err)
		}
		keys[name] = pemOf("PRIVATE KEY", must(x509.MarshalPKCS8PrivateKey(key)))
		keys[name+" pkcs1"] = pemOf("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key))
	}
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	keys["elliptic"] = pemOf("PRIVATE KEY", must(x509.MarshalPKCS8PrivateKey(curve)))
	keys["certificate"] = pemOf("CERTIFICATE", []byte("no key"))
	return keys
})

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

func pemOf(kind string, body []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: body}))
}

// accountFile is a service-account file; members replace its own, nil ones go.
func accountFile(members map[string]any) []byte {
	file := map[string]any{
		"type": "service_account", "project_id": "tuneful-1", "private_key_id": "0a1b", "private_key": testKeys()["rsa"],
		"client_email": "billing@tuneful-1.iam.example", "client_id": "1234567890", "token_uri": "https://oauth2.googleapis.com/token",
	}
	for name, value := range members {
		if value == nil {
			delete(file, name)
			continue
		}
		file[name] = value
	}
	return must(json.Marshal(file))
}

func TestServiceAccountFilesAreRecognised(t *testing.T) {
	good := string(accountFile(nil))
	cases := []struct {
		name, file string
		wrong      string // part of the sentence; "" for a good file
	}{
		{"the right file", good, ""},
		{"with spaces and a byte order mark", "\xef\xbb\xbf\n " + good + "\r\n", ""},
		{"a key in the older form", string(accountFile(map[string]any{"private_key": testKeys()["rsa pkcs1"]})), ""},
		{"without a project", string(accountFile(map[string]any{"project_id": nil})), ""},
		{"without a token_uri", string(accountFile(map[string]any{"token_uri": nil})), ""},
		{"a token_uri at another host", string(accountFile(map[string]any{"token_uri": "https://oauth2.example/token"})), "token_uri must be https://oauth2.googleapis.com/token"},
		{"a token_uri in the private network", string(accountFile(map[string]any{"token_uri": "http://169.254.169.254/token"})), "token_uri must be"},
		{"a token_uri over http", string(accountFile(map[string]any{"token_uri": "http://oauth2.googleapis.com/token"})), "token_uri must be"},
		{"a token_uri with another path", string(accountFile(map[string]any{"token_uri": "https://oauth2.googleapis.com/token?x=1"})), "token_uri must be"},
		{"a token_uri that begins like the store's", string(accountFile(map[string]any{"token_uri": "https://oauth2.googleapis.com.evil.example/token"})), "token_uri must be"},
		{"a token_uri with a user", string(accountFile(map[string]any{"token_uri": "https://oauth2.googleapis.com@evil.example/token"})), "token_uri must be"},
		{"a token_uri that is no string", string(accountFile(map[string]any{"token_uri": 7})), "must be strings"},
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
		{"a key alone", testKeys()["rsa"], "only a key"},
		{"an API key", "AIzaSyA-1234567890", "API key"},
		{"a .p12 file", "\x30\x82\x0a\x00\x02\x01\x03", ".p12"},
		{"another type", string(accountFile(map[string]any{"type": "user"})), "type is not service_account"},
		{"a type that is no string", string(accountFile(map[string]any{"type": 7})), "must be strings"},
		{"no client_email", string(accountFile(map[string]any{"client_email": nil})), "client_email"},
		{"a client_email that is none", string(accountFile(map[string]any{"client_email": "billing"})), "client_email"},
		{"no private_key", string(accountFile(map[string]any{"private_key": nil})), "it is missing"},
		{"a private_key without its line breaks", string(accountFile(map[string]any{"private_key": strings.ReplaceAll(testKeys()["rsa"], "\n", "")})), "not a PEM block"},
		{"a damaged private_key", string(accountFile(map[string]any{"private_key": pemOf("PRIVATE KEY", []byte("damaged"))})), "damaged"},
		{"a certificate as private_key", string(accountFile(map[string]any{"private_key": testKeys()["certificate"]})), "damaged"},
		{"another kind of private_key", string(accountFile(map[string]any{"private_key": testKeys()["elliptic"]})), "not an RSA key"},
		{"two private keys", string(accountFile(map[string]any{"private_key": testKeys()["rsa"] + testKeys()["rsa"]})), "unexpected text after the PEM block"},
		{"a project with markup", string(accountFile(map[string]any{"project_id": "<script>"})), "project_id"},
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
	engines(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		facts, err := f.Settings.SetServiceAccount(ctx, operator, 0, accountFile(nil))
		if err != nil {
			t.Fatal(err)
		}
		if !facts.Set || facts.Type != "service_account" || facts.ClientEmail != "billing@tuneful-1.iam.example" || facts.Project != "tuneful-1" ||
			!fingerprintPattern.MatchString(facts.Fingerprint) || !facts.SetAt.Equal(noon) {
			t.Errorf("facts %+v", facts)
		}
		f.mustPublish(t, "")
		draft, published, err := f.IAP.ServiceAccount(ctx, operator)
		if err != nil || draft != facts || published != facts {
			t.Errorf("draft %+v, published %+v, %v", draft, published, err)
		}
		shown := f.value(t, iap.KeyServiceAccount)
		if !strings.Contains(shown, facts.ClientEmail) || !strings.Contains(shown, facts.Fingerprint) {
			t.Errorf("shown as %q", shown)
		}
		two, err := f.Settings.Version(ctx, operator, 2)
		if err != nil || len(two.Changes) != 1 || two.Changes[0].After != shown {
			t.Errorf("version %+v, %v", two.Changes, err)
		}
		f.wantNoSecret(t, testKeys()["rsa"])
	})
}

// wantNoSecret wants nothing of a key, nor its sealed file, in anything that is
// written or said.
func (f *fixture) wantNoSecret(t *testing.T, key string) {
	t.Helper()
	s := f.settings(t)
	var said strings.Builder
	for _, one := range s.List {
		said.WriteString(one.Value + one.Published + string(one.JSON()))
	}
	next, err1 := f.Settings.Preview(t.Context(), operator)
	nextView, err2 := f.IAP.Preview(t.Context(), operator)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	middle := strings.Split(key, "\n")[5] // a line of the key's body
	for where, text := range map[string]string{
		"settings": said.String(), "database": f.everything(t), "served": string(f.served(t).JSON) + string(f.view(t).JSON),
		"preview": string(next) + string(nextView.JSON), "log": f.log.String(),
	} {
		if strings.Contains(text, middle) || strings.Contains(text, "PRIVATE KEY") {
			t.Errorf("%s: the private key shows", where)
		}
	}
}

func TestSealedFilesDontShowInTheDatabaseFile(t *testing.T) {
	f := updated(t, dbtest.New(t, dbtest.SQLite))
	if _, err := f.Settings.SetServiceAccount(t.Context(), operator, 0, accountFile(nil)); err != nil {
		t.Fatal(err)
	}
	_, pair, err := f.CreateCredential(t.Context(), operator, "second")
	if err != nil {
		t.Fatal(err)
	}
	middle := strings.Split(testKeys()["rsa"], "\n")[5]
	for _, name := range []string{DatabaseName, DatabaseName + "-wal"} {
		content, err := os.ReadFile(filepath.Join(f.at.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{middle, pair.Secret, pair.Key} {
			if strings.Contains(string(content), secret) {
				t.Errorf("%s holds a secret in clear", name)
			}
		}
	}
}

func TestSettingAServiceAccount(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		_, err := f.Settings.SetServiceAccount(ctx, operator, 0, []byte(`{"installed":{}}`))
		if e := wantFields(t, err, iap.KeyServiceAccount); !strings.Contains(e.Message, "OAuth client file") {
			t.Errorf("message %q", e.Message)
		}
		_, err = f.Settings.SetServiceAccount(ctx, operator, 0, nil)
		wantFields(t, err, iap.KeyServiceAccount)
		first := accountFile(nil)
		if _, err := f.Settings.SetServiceAccount(ctx, operator, 0, first); err != nil {
			t.Fatal(err)
		}
		revision := f.settings(t).Revision
		if _, err := f.Settings.SetServiceAccount(ctx, operator, 0, first); err != nil || f.settings(t).Revision != revision {
			t.Errorf("the same file again counts as a change: %v", err)
		}
		// "" leaves it, as the empty field of a form does; so does null.
		f.mustSet(t, map[string]string{iap.KeyServiceAccount: "", settings.KeyAppName: "x"})
		if _, err := f.Settings.SetJSON(ctx, operator, settings.Edit{}, map[string]json.RawMessage{iap.KeyServiceAccount: json.RawMessage("null")}); err != nil {
			t.Fatal(err)
		}
		if f.value(t, iap.KeyServiceAccount) == "" {
			t.Error("it is gone")
		}
		other := accountFile(map[string]any{"private_key": testKeys()["other rsa"]})
		if _, err := f.Settings.SetJSON(ctx, operator, settings.Edit{}, map[string]json.RawMessage{iap.KeyServiceAccount: other}); err != nil {
			t.Fatal(err)
		}
		f.mustPublish(t, "")
		if err := f.Settings.RemoveServiceAccount(ctx, operator, 0); err != nil || f.value(t, iap.KeyServiceAccount) != "" {
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
	engines(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		facts, err := f.Settings.SetServiceAccount(ctx, operator, 0, accountFile(nil))
		if err != nil {
			t.Fatal(err)
		}
		f.mustPublish(t, "")
		if err := f.Settings.RemoveServiceAccount(ctx, operator, 0); err != nil {
			t.Fatal(err)
		}
		f.mustPublish(t, "")
		if _, err := f.Settings.Rollback(ctx, operator, 2, ""); err != nil {
			t.Fatal(err)
		}
		if draft, published, err := f.IAP.ServiceAccount(ctx, operator); err != nil || draft != facts || published != facts {
			t.Errorf("draft %+v, published %+v, %v", draft, published, err)
		}
	})
}

func TestKeptServiceAccountIsTestedWithoutBeingShown(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		_, _, err := f.IAP.TestServiceAccount(ctx, operator)
		wantError(t, err, "service_account_not_found")
		if _, err := f.Settings.SetServiceAccount(ctx, operator, 0, accountFile(nil)); err != nil {
			t.Fatal(err)
		}
		checks, ok, err := f.IAP.TestServiceAccount(ctx, user)
		if err != nil || !ok || len(checks) < 5 {
			t.Errorf("%+v, %t, %v", checks, ok, err)
		}
		f.execute(t, `UPDATE service_accounts SET sealed = key_sealed FROM credentials`)
		checks, ok, err = f.IAP.TestServiceAccount(ctx, user)
		if err != nil || ok || len(checks) != 1 {
			t.Errorf("%+v, %t, %v", checks, ok, err)
		}
	})
}
