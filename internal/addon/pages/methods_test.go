package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/webtest"
)

func TestWrongMethodsAreRefusedWhoeverAsks(t *testing.T) {
	s := one(t)
	s.fillIn(t)
	before := s.audits(t)
	for _, tt := range []struct{ name, method, path, allow string }{
		{"a page that can only be looked at", "POST", "/api-addons/admin", "GET, HEAD, OPTIONS"},
		{"a page with a form", "DELETE", "/api-addons/admin/iap/settings", "GET, HEAD, POST, OPTIONS"},
		{"a page of one thing", "PUT", "/api-addons/admin/packages/1", "GET, HEAD, POST, OPTIONS"},
		{"a page of the other folder", "PATCH", "/admincp/apis", "GET, HEAD, POST, OPTIONS"},
		{"a form that is sent only", "GET", "/admincp/me/sessions/end", "POST, OPTIONS"},
		{"sign-in", "DELETE", "/admincp/login", "GET, HEAD, POST, OPTIONS"},
		{"the update", "DELETE", "/api-addons/update.php", "GET, HEAD, POST, OPTIONS"},
		{"the top", "POST", "/", "GET, HEAD, OPTIONS"},
		{"a method that nobody knows", "BREW", "/api-addons/admin/health", "GET, HEAD, OPTIONS"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, b := range []*webtest.Browser{s.signedIn(t), s.browser(t)} {
				p := b.Send(tt.method, tt.path, nil, "Sec-Fetch-Site", "same-origin")
				if p.StatusCode != http.StatusMethodNotAllowed || p.Header.Get("Allow") != tt.allow {
					t.Errorf("%d, Allow %q", p.StatusCode, p.Header.Get("Allow"))
				}
				p.Says("Not possible here", "does not accept "+tt.method+" requests")
				p = b.Send(tt.method, tt.path, nil, "Sec-Fetch-Site", "same-origin", "Accept", "application/json")
				if p.StatusCode != http.StatusMethodNotAllowed || p.Header.Get("Allow") != tt.allow {
					t.Errorf("as JSON: %d, Allow %q", p.StatusCode, p.Header.Get("Allow"))
				}
				if want := `{"status":"error","msg":"Method not allowed","message":"Method not allowed","code":"method_not_allowed"}`; p.Body != want {
					t.Errorf("as JSON: %s", p.Body)
				}
				p = b.Send("OPTIONS", tt.path, nil)
				if p.StatusCode != http.StatusNoContent || p.Header.Get("Allow") != tt.allow {
					t.Errorf("OPTIONS: %d, Allow %q", p.StatusCode, p.Header.Get("Allow"))
				}
			}
		})
	}
	s.wantAudits(t, before+9) // the sign-ins
}

func TestWrongMethodsBeforeTheFirstUpdate(t *testing.T) {
	t.Parallel()
	s := newSite(t, dbtest.New(t, dbtest.SQLite), nil)
	s.browser(t).Send("DELETE", "/api-addons/admin/packages", nil).Status(http.StatusMethodNotAllowed)
}

func TestFormsAreNotDoneForAClientThatTakesNoPages(t *testing.T) {
	s := one(t)
	s.fillIn(t)
	b := s.signedIn(t)
	before := s.audits(t)
	for _, r := range routes(t, "admin") {
		if r.path == appPath || r.path == appPath+"/publish" || strings.HasSuffix(r.path, "/test") || r.path == "/admincp" || r.file {
			continue // these have JSON of their own, or lead on, or are no page
		}
		p := b.Send(r.method, r.path, strings.NewReader("name=x&revision=1&do=save&key=1&password=x&id=9"),
			"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin", "Accept", "application/json")
		if p.StatusCode != http.StatusNotAcceptable || !strings.HasPrefix(p.Body, `{"status":"error","msg":"This address serves pages only`) || p.Header.Get("X-Error-Code") != "not_acceptable" {
			t.Errorf("%s %s: %d %.200s", r.method, r.path, p.StatusCode, p.Body)
		}
	}
	s.wantAudits(t, before)
	b.Send("GET", "/api-addons/admin/packages", nil, "Accept", "application/json, text/plain, */*").Status(http.StatusOK).Says("Silver")
	b.Send("GET", "/api-addons/admin/nowhere", nil, "Accept", "application/json").Status(http.StatusNotFound)
	s.browser(t).Send("POST", "/admincp/login", strings.NewReader("email="+email), "Accept", "application/json", "Sec-Fetch-Site", "same-origin").Status(http.StatusNotAcceptable)
}
