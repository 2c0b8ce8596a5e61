package pages_test

import (
	"encoding/base64"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/api"
	"github.com/countersign/countersign/internal/addon/credential"
	"github.com/countersign/countersign/internal/addon/pages"
	"github.com/countersign/countersign/internal/addon/usertoken"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/webtest"
)

// faultyColumns are the columns that a request can't read, one after the other.
var faultyColumns = []string{
	"users.email", "settings.value", "packages.name", "purchases.status", "memberships.status", "webhooks.url", "licenses.domain", "audit.action",
}

// bodies are those of requests that have one.
var bodies = map[string]string{
	"POST /api-addons/admin/app/settings":                `{"settings":{"appName":"Snow"}}`,
	"POST /api-addons/admin/app/settings/publish":        `{"note":"Snow"}`,
	"POST /api-addons/auth/user-token":                   `{"user_id":"user-1"}`,
	"POST /api-addons/iap/verify":                        `{"platform":"store","purchase_token":"token","product_id":"gold_monthly"}`,
	"POST /api-addons/iap/restore":                       `{"platform":"store","purchase_tokens":["token"]}`,
	"POST /api-addons/iap/users/{user}/grants":           `{"package_id":2,"reason":"Prize"}`,
	"POST /api-addons/iap/purchases/{purchase}/transfer": `{"to_user_id":"user-2","reason":"Sold"}`,
	"POST /api-addons/iap/purchases/{purchase}/defer":    `{"days":1}`,
	"POST /api-addons/iap/users/merge":                   `{"from_user_id":"user-1","to_user_id":"user-2"}`,
}

// Whatever column a handler can't read, the log has the cause of its 500.
func TestEvery500HasItsCauseInTheLog(t *testing.T) {
	t.Parallel()
	s := newSiteAt(t, updatedSite.New(t, dbtest.SQLite), "http://127.0.0.1:1", nil) // no app store answers there
	s.fillIn(t)
	log := slog.New(slog.NewTextHandler(s.log, nil))
	shown := pages.New(pages.Options{Addon: s.Addon, Frame: s.frame})
	server := httptest.NewServer(api.New(s.Addon, api.Options{Pages: shown, Visitor: s.frame.Visitor, Now: s.clock.Now, Log: log}))
	defer server.Close()
	_, pair, err := s.Credentials.Create(t.Context(), operator, "API") // the pages change the first one
	must.Do(t, err)
	token, _ := usertoken.Mint(credential.SiteTokenKey(pair), "user-1", s.clock.Now())
	admin, site, app := webtest.NewBrowser(t, server.URL, ""), webtest.NewBrowser(t, server.URL, ""), webtest.NewBrowser(t, server.URL, "")
	admin.Post("/admincp/login", "email", email, "password", password).LeadsTo("/api-addons/admin")
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte(pair.Key+":"+pair.Secret))
	example := strings.NewReplacer("{id}", "1", "{version}", "1", "{user}", "user-1", "{purchase}", "pur_1", "{delivery}", "1", "{ref}", "0a0b0c0d0e0f", "{grant}", "1")
	faults := map[*webtest.Browser]int{}
	for _, fault := range faultyColumns {
		table, column, _ := strings.Cut(fault, ".")
		addontest.Execute(t, s.at, `ALTER TABLE `+table+` RENAME COLUMN `+column+` TO gone`)
		send := func(b *webtest.Browser, route, body string, headers ...string) {
			if b.WantCause(s.log, "SQL logic error", example.Replace(route), body, append(headers, "Sec-Fetch-Site", "same-origin")...) {
				faults[b]++
			}
		}
		for _, route := range webtest.Routes(t, "routes.go") {
			send(admin, route, "", "Accept", "text/html", "Content-Type", "application/x-www-form-urlencoded")
		}
		for _, route := range webtest.Routes(t, "../api/routes.go") {
			send(site, route, bodies[route], "Authorization", basic, "Content-Type", "application/json")
			send(app, route, bodies[route], "X-Api-Key", pair.Key, "Authorization", "Bearer "+token, "Content-Type", "application/json")
		}
		addontest.Execute(t, s.at, `ALTER TABLE `+table+` RENAME COLUMN gone TO `+column)
	}
	if faults[admin] < 100 || faults[site] < 20 || faults[app] < 8 {
		t.Errorf("only %d, %d and %d of the requests failed", faults[admin], faults[site], faults[app])
	}
}
