package api_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/addon/api"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/people"
)

// secrets are everything that nobody outside may ever see, by name.
func (s *site) secrets(t *testing.T) map[string]string {
	t.Helper()
	ctx := t.Context()
	var file struct {
		PrivateKey   string `json:"private_key"`
		PrivateKeyID string `json:"private_key_id"`
		ClientEmail  string `json:"client_email"`
	}
	check(t, json.Unmarshal([]byte(s.serviceAccountFile), &file))
	_, second, err := s.Credentials.Create(ctx, operator, "A second pair")
	check(t, err)
	user, err := s.Instance.People.CreateAdministrator(ctx, operator, "ana@cafe.example", "correct horse battery")
	check(t, err)
	ana := user.Actor(people.Origin{})
	totp, err := s.Instance.People.BeginTOTP(ctx, ana, "correct horse battery", "Countersign addon")
	check(t, err)
	signInLink, _, err := s.Instance.People.NewSignInLink(ctx, operator, user.Email)
	check(t, err)
	session := "ZmFrZS1zZXNzaW9uLXRva2VuLW9mLWFuYS0wMDAwMQ"
	check(t, s.Instance.People.SaveSession(ctx, session, people.SavedSession{
		User: user.ID, Generation: user.Generation, Data: []byte("data of ana's session"), Expires: today.AddDate(0, 0, 1),
	}))
	webToken, _, err := s.Setup.NewWebToken(ctx, operator)
	check(t, err)
	return map[string]string{
		"service account: file": s.serviceAccountFile, "service account: key": pemBody(file.PrivateKey),
		"service account: id of the key": file.PrivateKeyID, "service account: e-mail": file.ClientEmail,
		"API key": s.pair.Key, "API secret": s.pair.Secret, "second API key": second.Key, "second API secret": second.Secret,
		"password": "correct horse battery", "administrator": "ana@cafe.example", "TOTP seed": totp.Secret,
		"sign-in link": signInLink, "session token": session, "session data": "data of ana's session",
		"set-up link": s.setupToken, "update token": webToken, "data folder": s.dir,
	}
}

// pemBody is the second line of a PEM block, which is like no other text.
func pemBody(text string) string { return strings.Split(text, "\n")[1] }

// keyFiles are the texts of all small files of the data folder: the key file, and
// whatever else lies there, but for the database and backups of it.
func (s *site) keyFiles(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	check(t, filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(d.Name(), ".db") {
			return err
		}
		text, err := os.ReadFile(path)
		for line := range strings.SplitSeq(string(text), "\n") {
			if line = strings.TrimSpace(line); len(line) >= 16 && !strings.HasPrefix(line, "#") {
				found["file "+d.Name()+": "+line[:4]] = line
			}
		}
		return err
	}))
	return found
}

// spellings are the forms in which a secret could slip out.
func spellings(secret string) []string {
	quoted, _ := json.Marshal(secret)
	return []string{
		secret, string(bytes.Trim(quoted, `"`)), base64.StdEncoding.EncodeToString([]byte(secret)),
		base64.RawURLEncoding.EncodeToString([]byte(secret)), hex.EncodeToString([]byte(secret)),
	}
}

// strangers are requests that anybody can send.
func strangers() map[string]*http.Request {
	requests := map[string]*http.Request{}
	for _, path := range []string{
		"/api-addons/app/settings", "/api-addons/iap/config", "/api-addons/admin/app/settings", "/api-addons/admin/app/settings/publish",
		"/api-addons/update.php", "/openapi.json", "/healthz", "/readyz", "/api-addons/admin", "/admincp/apis", "/nothing", "/",
	} {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "OPTIONS", "TRACE"} {
			bare := httptest.NewRequest(method, path, nil)
			dressed := httptest.NewRequest(method, path, strings.NewReader(`{"settings":{"iapStoreServiceAccountJson":"{}"}}`))
			for name, value := range map[string]string{
				"Content-Type": "application/json", "X-Api-Key": "cak_guess", "X-Api-Signature": "00", "X-Update-Token": "guess",
				"Authorization": "Basic Z3Vlc3M6Z3Vlc3M=", "Cookie": "countersign_session=guess", "If-None-Match": `"guess"`, "Accept": "application/json",
			} {
				dressed.Header.Set(name, value)
			}
			requests[method+" "+path], requests[method+" "+path+", dressed up"] = bare, dressed
		}
	}
	return requests
}

func TestNoSecretIsInAnyPublicAnswer(t *testing.T) {
	t.Parallel()
	dbtest.AnEngine(t, func(t *testing.T, at dbtest.DB) {
		s := filled(t, at)
		secrets := s.secrets(t)
		files := s.keyFiles(t)
		if len(files) < 2 { // the key file and the digest of the update's token
			t.Fatalf("only %d lines were found in the data folder", len(files))
		}
		for name, text := range files {
			secrets[name] = text
		}
		h := api.New(s.Addon, options())
		for name, r := range strangers() {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			answer := w.Body.String() + "\n" + headerText(w.Header())
			for kind, secret := range secrets {
				if secret == "" {
					t.Fatalf("there is no %s to look for", kind)
				}
				for _, form := range spellings(secret) {
					if strings.Contains(answer, form) {
						t.Errorf("%s gives away: %s", name, kind)
					}
				}
			}
			for _, word := range []string{"PRIVATE KEY", "service_account", "client_email", "private_key"} {
				if strings.Contains(answer, word) && r.URL.Path != "/openapi.json" {
					t.Errorf("%s speaks of %s", name, word)
				}
			}
		}
	})
}

func headerText(h http.Header) string {
	var text strings.Builder
	_ = h.Write(&text)
	return text.String()
}

// A public answer is made of the settings that are public by their definition.
func TestOnlyPublicSettingsAreServed(t *testing.T) {
	s := filled(t, dbtest.New(t, dbtest.SQLite))
	var served map[string]any
	check(t, json.Unmarshal(get(api.New(s.Addon, options()), "/api-addons/app/settings").Body.Bytes(), &served))
	for _, d := range settings.Definitions() {
		if _, there := served[d.Key]; there != d.Public || d.Public && d.Secret {
			t.Errorf("%s: served %t, public %t, secret %t", d.Key, there, d.Public, d.Secret)
		}
	}
	for key, value := range served {
		switch value.(type) {
		case string, bool, float64:
		default:
			t.Errorf("%s is %v: not flat", key, value)
		}
	}
}

// What a program with the site's pair is answered holds no secret either.
func TestNoSecretIsShownToPrograms(t *testing.T) {
	s := filled(t, dbtest.New(t, dbtest.SQLite))
	h := api.New(s.Addon, options())
	for i, body := range []string{"", `{"settings":{"appName":"X"}}`, `{"revision":1,"settings":{"iapStoreServiceAccountJson":` + s.serviceAccountFile + `}}`} {
		c := call{method: "GET", target: draftPath, body: body, key: s.pair.Key, secret: s.pair.Secret, at: today, nonce: "program-" + string(rune('0'+i))}
		if body != "" {
			c.method = "POST"
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, c.request())
		if w.Code != 200 && w.Code != 412 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		var file struct {
			PrivateKey string `json:"private_key"`
		}
		check(t, json.Unmarshal([]byte(s.serviceAccountFile), &file))
		for _, secret := range []string{pemBody(file.PrivateKey), "private_key", s.pair.Key, s.pair.Secret} {
			if strings.Contains(w.Body.String(), secret) {
				t.Errorf("answer %d gives away a secret", i)
			}
		}
	}
}
