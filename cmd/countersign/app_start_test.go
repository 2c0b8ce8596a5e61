package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/license"
)

// site is a site with an addon, whose store's key set it serves as well.
type site struct {
	url, license, keySet string
	asked                []string // paths
}

// newSite issues a license for shop.example and serves settings.
func newSite(t *testing.T, settings func(http.ResponseWriter)) *site {
	t.Helper()
	key := must.Get(license.NewSigningKey())(t)
	text := must.Get(license.Sign(license.License{
		ID: "one", Issuer: "https://store.example", IssuedAt: time.Unix(1767225600, 0), ItemID: 1229, ItemName: "Rain\x1b[2J",
		LicenseType: "Regular", Purchase: strings.Repeat("0f", 16), Domain: "shop.example", Domains: []string{"shop.example"},
	}, key))(t)
	set := must.Get(license.NewKeySet(key.Public()))(t)
	jwks := must.Get(set.MarshalJSON())(t)
	s := &site{license: filepath.Join(t.TempDir(), "license.jwt")}
	must.Do(t, os.WriteFile(s.license, []byte(text+"\n"), 0o600))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked = append(s.asked, r.URL.Path)
		switch r.URL.Path {
		case "/.well-known/jwks.json":
			_, _ = w.Write(jwks)
		case "/app/api-addons/app/settings":
			settings(w)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	s.url, s.keySet = server.URL+"/app", server.URL+"/.well-known/jwks.json"
	return s
}

func (s *site) start(t *testing.T, more ...string) result {
	t.Helper()
	args := append([]string{"app", "start", "--license", s.license, "--site", s.url, "--jwks", s.keySet, "--domain", "shop.example"}, more...)
	return command(t, t.TempDir(), args...)
}

func goodSettings(w http.ResponseWriter) {
	fmt.Fprint(w, `{"appName":"Rain \u001b[2J","pushEnabled":false,"pushAppId":"","retries":3}`)
}

func TestAppStartPrintsWhatTheAppRunsWith(t *testing.T) {
	t.Parallel()
	r := newSite(t, goodSettings).start(t)
	want := `The license is valid: Rain\u001b[2J (#1229), Regular, for shop.example; issued by https://store.example on 2026-01-01
SETTING       VALUE
appName       "Rain \u001b[2J"
pushAppId     ""
pushEnabled   false
retries       3
`
	if r.code != cli.ExitOK || r.out != want || r.err != "" {
		t.Errorf("exit %d, stderr %q\n%s", r.code, r.err, r.out)
	}
}

func TestAppStartPrintsOneObject(t *testing.T) {
	t.Parallel()
	r := newSite(t, goodSettings).start(t, "--json")
	want := `{"domain":"shop.example","license":{"id":"one","issuer":"https://store.example","issued_at":"2026-01-01T00:00:00Z","expires":null,` +
		`"item_id":1229,"item_name":"Rain\u001b[2J","license_type":"Regular","domain":"shop.example","domains":["shop.example"],"supported_until":null},` +
		`"settings":{"appName":"Rain \u001b[2J","pushAppId":"","pushEnabled":false,"retries":3}}` + "\n"
	if r.code != cli.ExitOK || r.out != want {
		t.Errorf("exit %d, stderr %q\n%s", r.code, r.err, r.out)
	}
}

func TestAppStartDoesNotAskASiteForAnotherDomain(t *testing.T) {
	t.Parallel()
	s := newSite(t, goodSettings)
	r := s.start(t, "--domain", "evil.test")
	if r.code != cli.ExitNo || r.out != "" || !strings.Contains(r.err, "is for shop.example, not for evil.test") {
		t.Errorf("exit %d, stdout %q, stderr %q", r.code, r.out, r.err)
	}
	expect.Equalf(t, strings.Join(s.asked, " "), "/.well-known/jwks.json", "asked for %q", s.asked)
}

func TestAppStartSaysTheLicenseIsGoodBeforeItFailsOnSettings(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `{"status":"error","msg":"not yet","message":"run countersign addon update","code":"not_updated"}`)
	})
	r := s.start(t)
	if r.code != cli.ExitUnreachable || strings.Count(r.out, "\n") != 1 || !strings.HasPrefix(r.out, "The license is valid: ") {
		t.Errorf("exit %d, stdout %q", r.code, r.out)
	}
	if !strings.Contains(r.err, "the site answered 503: run countersign addon update") || strings.Contains(r.err, "data folder") {
		t.Errorf("stderr %q", r.err)
	}
}

func TestAppStartWarnsOfKeysThatComeOverAnOpenLine(t *testing.T) {
	t.Parallel()
	s := newSite(t, goodSettings)
	r := s.start(t)
	if strings.Contains(r.err, "warning") {
		t.Errorf("on this machine: %q", r.err)
	}
	s.keySet = "http://store.example:99999/jwks.json" // fails before any name is looked up
	r = s.start(t)
	if r.code != cli.ExitUnreachable || !strings.Contains(r.err, "warning: the key set is loaded over http, where anyone on the network can replace it; use https, or a trusted file") {
		t.Errorf("exit %d, stderr %q", r.code, r.err)
	}
}
