package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
)

// The three checks of an installation (spec 4.5), from an empty folder.
func TestAnAddonFromNothingPassesTheInstallationChecks(t *testing.T) {
	t.Parallel()
	dbtest.Engines(t, func(t *testing.T, db dbtest.DB) {
		env := environment{envAddonData: filepath.Join(db.Dir, "site"), envAddonDB: db.URL}
		if r := commandIn(t, env, "addon", "update"); r.code != 0 {
			t.Fatalf("the update: exit %d, %s", r.code, r.err)
		}
		var pair struct {
			KeyHint    string `json:"key_hint"`
			SecretHint string `json:"secret_hint"`
		}
		if r := commandIn(t, env, "addon", "api", "list", "--json"); json.Unmarshal([]byte(r.out), &pair) != nil || pair.KeyHint == "" {
			t.Fatalf("the first pair: exit %d, %s%s", r.code, r.out, r.err)
		}
		s := startServer(t, env, "addon", "serve")
		b := newBrowser(t, s.said["addon_url"])
		b.setUp(s.said["setup_url"])

		if status, page := b.get("/admincp/apis"); status != http.StatusOK || !strings.Contains(page, pair.KeyHint) || !strings.Contains(page, pair.SecretHint) {
			t.Errorf("1. the credentials are at /admincp/apis: %d %s", status, page)
		}
		if status, page := b.get("/api-addons/admin"); status != http.StatusOK || strings.Count(page, "<h1") != 1 || !strings.Contains(page, "Dashboard") {
			t.Errorf("2. the dashboard opens: %d %s", status, page)
		}
		status, body := fetch(t, s.said["addon_url"]+"/api-addons/app/settings")
		var settings map[string]any
		if err := json.Unmarshal([]byte(body), &settings); status != http.StatusOK || err != nil {
			t.Fatalf("3. the settings are valid: %d %s, %v", status, body, err)
		}
		for _, key := range []string{"appName", "idpIosClientId", "idpAndroidClientId", "pushAppId", "pushTimelineAppId", "streamAppId",
			"messengerUrlScheme", "messengerAndroidPackageId", "messengerDomain"} { // spec 2.5
			if _, ok := settings[key].(string); !ok {
				t.Errorf("3. %s is %v, want a string", key, settings[key])
			}
		}
		if _, ok := settings["pushEnabled"].(bool); !ok {
			t.Errorf("3. pushEnabled is %v, want a boolean", settings["pushEnabled"])
		}
	})
}

// browser is somebody without scripts at the addon's pages.
type browser struct {
	t      *testing.T
	site   string
	client *http.Client
}

func newBrowser(t *testing.T, site string) *browser {
	t.Helper()
	jar := must.Get(cookiejar.New(nil))(t)
	return &browser{t, site, &http.Client{Jar: jar}}
}

func (b *browser) get(path string) (status int, page string) {
	b.t.Helper()
	return b.do(http.MethodGet, path, nil)
}

// setUp creates the first administrator by a set-up link, which also signs in.
func (b *browser) setUp(link string) {
	b.t.Helper()
	path, token, _ := strings.Cut(strings.TrimPrefix(link, b.site), "#")
	form := url.Values{"token": {token}, "email": {"ada@site.example"}, "password": {"a long enough sentence"}}
	if status, page := b.do(http.MethodPost, path, form); status != http.StatusOK {
		b.t.Fatalf("%s: %d %s", link, status, page)
	}
}

// do sends a form and returns the page, without the places where its codes may wrap.
func (b *browser) do(method, path string, form url.Values) (status int, page string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.site+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html")
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answer, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer.StatusCode, strings.ReplaceAll(string(text), "<wbr>", "")
}
