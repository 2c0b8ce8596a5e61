package main

import (
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
)

func TestAddonServeNamesAllWrongFlagsAtOnce(t *testing.T) {
	r := command(t, t.TempDir(), "addon", "serve", "--listen", "8080", "--base-url", "site.example", "--trusted-proxy", "10.0.0.0/99",
		"--log", "loud", "--fail-limit", "-1", "--idle-timeout", "0s", "--metrics", "x", "--allow-private", "8.8.8.0/24")
	expect.Equalf(t, r.code, cli.ExitUsage, "exit")
	for _, flag := range []string{"--listen: ", "--base-url: ", "--trusted-proxy: ", "--log: ", "--fail-limit: ", "--idle-timeout: ", "--metrics: ", "--allow-private: 8.8.8.0/24 is not a private network"} {
		if !strings.Contains(r.err, flag) {
			t.Errorf("%q does not name %s", r.err, flag)
		}
	}
}

// Without the flag an administrator can't make the server call what is beside it.
func TestAPrivateStoreIsCalledOnlyWhenItsNetworkIsAllowed(t *testing.T) {
	t.Parallel()
	store := startServer(t, environment{envData: shop(t)}, "store", "serve")
	order := url.Values{"code": {"code-1"}, "domain": {"site.example"}, "store": {store.said["store_url"]}}
	for _, c := range []struct {
		flags  []string
		status int
		page   string
	}{
		{nil, http.StatusServiceUnavailable, "can&#39;t be reached right now"},
		{[]string{"--allow-private", "10.0.0.0/8"}, http.StatusServiceUnavailable, "can&#39;t be reached right now"},
		{[]string{"--allow-private", "10.0.0.0/8", "--allow-private", "127.0.0.1"}, http.StatusOK, "The license file for site.example is here"},
	} {
		env := environment{envAddonData: sites.New(t, dbtest.SQLite).Dir}
		s := startServer(t, env, append([]string{"addon", "serve"}, c.flags...)...)
		b := newBrowser(t, s.said["addon_url"])
		b.setUp(s.said["setup_url"])
		if status, page := b.do(http.MethodPost, "/api-addons/admin/license", order); status != c.status || !strings.Contains(page, c.page) {
			t.Errorf("%v: %d %s", c.flags, status, page)
		}
		s.stop()
		if refused := strings.Contains(s.stderr.String(), "127.0.0.1 is not a public address: address refused"); refused != (c.status != http.StatusOK) || strings.Contains(s.stderr.String(), "code-1") {
			t.Errorf("%v: the log says %s", c.flags, s.stderr)
		}
	}
}

func TestTheAddonsFlagsAndVariablesAreItsOwn(t *testing.T) {
	store, site := t.TempDir(), t.TempDir()
	env := environment{envData: store, envDB: "postgres://nobody@127.0.0.1:1/none", envAddonData: site}
	if r := commandIn(t, env, "addon", "update"); r.code != 0 {
		t.Errorf("the store's variables count for the addon: exit %d, %s", r.code, r.err)
	}
	if r := commandIn(t, env, "addon", "settings", "list", "--data", store); r.code != cli.ExitNotFound || !strings.Contains(r.err, "countersign addon update --data "+store) {
		t.Errorf("--data wins over %s: exit %d, %s", envAddonData, r.code, r.err)
	}
	if made, _ := filepath.Glob(filepath.Join(store, "store.db")); len(made) > 0 {
		t.Errorf("a store was made: %v", made)
	}
	env[envAddonKey] = "hunter2"
	if r := commandIn(t, env, "addon", "settings", "list"); r.code != cli.ExitConflict || !strings.HasSuffix(r.err, "or unset it to use the key file of the data folder\n") || strings.Contains(r.err, "hunter2") {
		t.Errorf("%s is no key file: exit %d, %s", envAddonKey, r.code, r.err)
	}
	delete(env, envAddonKey)
	env[envAddonDB] = "postgres://nobody@127.0.0.1:1/none"
	if r := commandIn(t, env, "addon", "settings", "list"); r.code != cli.ExitUnreachable || !strings.Contains(r.err, "check that PostgreSQL runs") {
		t.Errorf("%s counts: exit %d, %s", envAddonDB, r.code, r.err)
	}
}

func TestAddonServeWaitsForPostgreSQL(t *testing.T) {
	t.Parallel()
	db := sites.New(t, dbtest.Postgres)
	proxy := dbtest.NewProxy(t, db)
	proxy.Cut()
	s := startServer(t, environment{envAddonData: db.Dir, envAddonDB: proxy.URL}, "addon", "serve")
	s.said["store_url"] = s.said["addon_url"] // what get asks
	if status, _ := s.get("/healthz"); status != http.StatusOK {
		t.Errorf("/healthz while it is down: %d", status)
	}
	if status, body := s.get("/api-addons/app/settings"); status != http.StatusServiceUnavailable || strings.Contains(body, "127.0.0.1") {
		t.Errorf("settings while it is down: %d %s", status, body)
	}
	proxy.Restore()
	s.wantSetupLink(s.said["addon_url"] + "/admincp/setup")
	s.awaitStatus("/readyz", http.StatusOK)
	s.awaitStatus("/api-addons/app/settings", http.StatusOK)
	expect.Equalf(t, s.stop(), 0, "exit: %s", s.stderr)
}

func TestAnAddonUnderAPrefixServesBothKindsOfPaths(t *testing.T) {
	t.Parallel()
	env := environment{envAddonData: sites.New(t, dbtest.SQLite).Dir}
	s := startServer(t, env, "addon", "serve", "--base-url", "https://site.example/shop/")
	if setup := s.said["setup_url"]; !strings.HasPrefix(setup, "https://site.example/shop/admincp/setup#") {
		t.Errorf("the set-up link is %s", setup)
	}
	for _, path := range []string{"/api-addons/app/settings", "/shop/api-addons/app/settings", "/shop/admincp/setup", "/admincp/setup"} {
		if status, body := fetch(t, s.said["addon_url"]+path); status != http.StatusOK {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	_, page := fetch(t, s.said["addon_url"]+"/admincp/setup")
	if strings.Contains(page, `href="/admincp`) || !strings.Contains(page, `"/shop/admincp/`) {
		t.Errorf("links do not begin with the prefix: %s", page)
	}
}

func TestTheAddonsMetricsHaveAListenerOfTheirOwn(t *testing.T) {
	t.Parallel()
	env := environment{envAddonData: t.TempDir()}
	s := startServer(t, env, "addon", "serve", "--metrics", "127.0.0.1:0")
	fetch(t, s.said["addon_url"]+"/healthz")
	if status, body := fetch(t, s.said["metrics_url"]); status != http.StatusOK || !strings.Contains(body, `route="/healthz",status="200"} 1`) {
		t.Errorf("metrics: %d %s", status, body)
	}
	expect.Equalf(t, s.stop(), 0, "exit: %s", s.stderr)
}

func TestAServerReportsAnotherAddressOfTheAppsStore(t *testing.T) {
	t.Parallel()
	s := startServer(t, environment{envAddonData: t.TempDir(), envPlayURL: "http://127.0.0.1:9"}, "addon", "serve")
	if code := s.stop(); code != 0 || !strings.Contains(s.stderr.String(), "Google Play is replaced by http://127.0.0.1:9 ("+envPlayURL+").") {
		t.Errorf("exit %d: %s", code, s.stderr)
	}
}

// The first link of the demo signs in to the store's pages as an administrator, once. The second one signs in to the
// addon, which gets a license from the store, though that is on this machine.
func TestTheDemosLinksSignInToBothServices(t *testing.T) {
	t.Parallel()
	s := startServer(t, environment{}, "demo", "--addon-listen", "127.0.0.1:0")
	path, token, _ := strings.Cut(strings.TrimPrefix(s.said["store_admin_link"], s.said["store_url"]), "#")
	b := newBrowser(t, s.said["store_url"])
	if status, page := b.do(http.MethodPost, path, url.Values{"token": {token}}); status != http.StatusOK || !strings.Contains(page, "Workspaces") {
		t.Fatalf("%d %s", status, page)
	}
	if status, page := b.get("/users"); status != http.StatusOK || !strings.Contains(page, "demo@shop.example") {
		t.Errorf("the users: %d %s", status, page)
	}
	if status, _ := newBrowser(t, s.said["store_url"]).do(http.MethodPost, path, url.Values{"token": {token}}); status != http.StatusForbidden {
		t.Errorf("the link again: %d", status)
	}

	site := newBrowser(t, s.said["addon_url"])
	_, token, _ = strings.Cut(s.said["addon_admin_link"], "#")
	if status, page := site.do(http.MethodPost, "/admincp/link", url.Values{"token": {token}}); status != http.StatusOK {
		t.Fatalf("%d %s", status, page)
	}
	order := url.Values{"code": {s.said["purchase_code"]}, "domain": {"site.example"}, "store": {s.said["store_url"]}}
	if status, page := site.do(http.MethodPost, "/api-addons/admin/license", order); status != http.StatusOK || !strings.Contains(page, "The license file for site.example is here") {
		t.Errorf("%d %s", status, page)
	}
}
