package pages_test

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
)

// route is an address of the pages, with an example in place of what varies.
type route struct {
	method, path string
	file         bool
}

var routePattern = regexp.MustCompile(`mux\.Handle\("(GET|POST) ([^"]+)", p\.(admin|frame\.Public)(File)?\(`)

// routes reads all addresses of a kind from routes.go: "admin" or "frame.Public".
func routes(t *testing.T, kind string) (list []route) {
	t.Helper()
	text := must.Get(os.ReadFile("routes.go"))(t)
	for _, m := range routePattern.FindAllStringSubmatch(string(text), -1) {
		if m[3] == kind && !strings.Contains(m[2], "{$}") {
			path := strings.NewReplacer("{id}", "1", "{version}", "1", "{user}", "user-1", "{purchase}", "pur_1", "{delivery}", "1", "{ref}", "0a0b0c0d0e0f").Replace(m[2])
			list = append(list, route{m[1], path, m[4] != ""})
		}
	}
	if len(list) < 2 {
		t.Fatalf("%d addresses of the kind %s", len(list), kind)
	}
	return list
}

func TestPagesNeedSomebodyWhoIsSignedIn(t *testing.T) {
	s := one(t)
	before := s.audits(t)
	for _, r := range routes(t, "admin") {
		stranger := s.browser(t)
		if r.method == "GET" {
			stranger.Get(r.path + "?before=3").LeadsTo("/admincp/login?next=" + strings.NewReplacer("/", "%2F", "?", "%3F", "=", "%3D").Replace(r.path+"?before=3"))
		} else {
			stranger.Post(r.path, "do", "save", "name", "x", "revision", "1").Status(http.StatusUnprocessableEntity).Says("Nothing was saved: you are no longer signed in.")
		}
		pages := http.StatusNotAcceptable // who could not read the page is not told to sign in for it
		if r.file {
			pages = http.StatusUnauthorized
		}
		for accept, want := range map[string]int{"application/json": pages, "application/json, */*": http.StatusUnauthorized} {
			if p := stranger.Send(r.method, r.path, nil, "Accept", accept); p.StatusCode != want {
				t.Errorf("%s %s accepting %s: %d, want %d", r.method, r.path, accept, p.StatusCode, want)
			}
		}
		forged := s.browser(t)
		forged.Send(r.method, r.path, nil, "Cookie", "countersign_session="+strings.Repeat("A", 43)).Status(map[string]int{"GET": http.StatusSeeOther, "POST": http.StatusUnprocessableEntity}[r.method])
	}
	s.wantAudits(t, before)
}

func TestPagesOpen(t *testing.T) {
	s := one(t)
	s.fillIn(t)
	b := s.signedIn(t)
	for _, r := range routes(t, "admin") {
		if r.method == "GET" && r.path != "/admincp" && !strings.HasSuffix(r.path, "/test") {
			b.Get(r.path).Status(http.StatusOK)
		}
	}
	b.Get("/").LeadsTo("/api-addons/admin")
	b.Get("/admincp").LeadsTo("/admincp/apis")
	b.Get("/api-addons/admin/iap/settings/account/test").LeadsTo("/api-addons/admin/iap/settings/account")
}

func TestChangesFromAnotherSiteAreRefused(t *testing.T) {
	s := one(t)
	s.fillIn(t)
	b := s.signedIn(t)
	before := s.audits(t)
	for _, r := range append(routes(t, "admin"), route{method: "POST", path: "/api-addons/update.php"}) {
		if r.method != "POST" {
			continue
		}
		body := func() *strings.Reader {
			return strings.NewReader("revision=1&do=save&label=x&name=x&id=9&key=1&ends=x&note=x")
		}
		b.Send("POST", r.path, body(), "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "cross-site").Status(http.StatusForbidden)
		b.Send("POST", r.path, body(), "Content-Type", "application/x-www-form-urlencoded", "Origin", "https://elsewhere.example").Status(http.StatusForbidden)
	}
	s.wantAudits(t, before)
}

func TestAddressesThatLeadNowhere(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	for _, path := range []string{
		"/nowhere", "/api-addons/admin/nowhere", "/admincp/nowhere", "/api-addons/admin/packages/99", "/api-addons/admin/packages/x", "/api-addons/admin/packages/-1/remove",
		"/api-addons/admin/packages/99999999999999999999", "/api-addons/admin/history/99", "/api-addons/admin/history/0/restore", "/api-addons/admin/history/1.0",
		"/admincp/apis/99", "/admincp/apis/x/reveal", "/admincp/apis/%00", "/api-addons/admin/packages/%2e%2e%2fapp", "/api-addons/admin/preview/windows",
		"/api-addons/admin/purchases/pur_2", "/api-addons/admin/purchases/pur_2/refund", "/api-addons/admin/purchases", "/api-addons/admin/customers/user-1/grants/9/end",
		"/api-addons/admin/customers/user-1/grants/x/end",
		"/api-addons/admin/webhooks/99", "/api-addons/admin/webhooks/99/deliveries/1",
	} {
		b.Get(path).Status(http.StatusNotFound).Says("Page not found")
	}
	for _, path := range []string{"/api-addons/admin/packages/99", "/api-addons/admin/packages/99/remove", "/api-addons/admin/history/99/restore", "/admincp/apis/99", "/admincp/apis/99/reveal", "/admincp/apis/99/rotate"} {
		b.Post(path, "name", "x", "id", "99", "password", password, "key", "1").Status(http.StatusNotFound)
	}
	s.browser(t).Get("/api-addons/admin/nowhere").Status(http.StatusSeeOther)
	s.browser(t).Get("/api-addons/admin/nowhere", "Accept", "application/json").Status(http.StatusUnauthorized)
}

func TestPagesBeforeTheFirstUpdateLeadToSetUp(t *testing.T) {
	t.Parallel()
	s := newSite(t, dbtest.New(t, dbtest.SQLite), nil)
	for _, r := range routes(t, "admin") {
		s.browser(t).Send(r.method, r.path, nil).LeadsTo("/admincp/setup")
	}
	s.browser(t).Get("/admincp/setup").Status(http.StatusOK).Says("Run the update first", "countersign addon update", "Open the update page")
}

func TestPagesUnderAPathPrefix(t *testing.T) {
	t.Parallel()
	s := newSite(t, dbtest.New(t, dbtest.SQLite), func(o *frame.Options) { o.BasePath, o.Origin = "/shop", "https://site.example" })
	s.install(t)
	s.fillIn(t)
	b := s.signedIn(t)
	for _, r := range routes(t, "admin") {
		if r.method == "GET" && r.path != "/admincp" && !strings.HasSuffix(r.path, "/test") {
			b.Get(r.path).Status(http.StatusOK)
		}
	}
	b.Fill("/api-addons/admin/app/settings", "/api-addons/admin/app/settings", "appName", "Prefixed").LeadsTo("/api-addons/admin/app/settings")
	expect.Equalf(t, b.Get("/api-addons/admin").Value("app-address"), "https://site.example/shop/api-addons/app/settings", "the app's address")
}

// script is what somebody types to see whether it runs.
const script = `"'><script>alert(1)</script><img src=x onerror=alert(1)>`

func TestScriptInEveryTextFieldIsShownAsText(t *testing.T) {
	s := one(t)
	s.fillIn(t)
	b := s.signedIn(t)
	forms := []struct{ page, path string }{
		{"/api-addons/admin/app/settings", ""}, {"/api-addons/admin/iap/settings", ""}, {"/api-addons/admin/iap/settings/products", ""},
		{"/api-addons/admin/app/settings/publish", ""}, {"/api-addons/admin/iap/settings/account", ""}, {"/api-addons/admin/packages/new", "/api-addons/admin/packages"},
		{"/api-addons/admin/packages/1", ""}, {"/api-addons/admin/history/1/restore", ""}, {"/admincp/apis/new", "/admincp/apis"},
		{"/admincp/apis/1/reveal", ""}, {"/admincp/apis/1/rotate", ""},
		{"/api-addons/admin/customers", ""}, {"/api-addons/admin/customers/user-1/grant", ""}, {"/api-addons/admin/purchases/pur_1/transfer", ""},
		{"/api-addons/admin/purchases/pur_1/defer", ""}, {"/api-addons/admin/purchases/pur_1/refund", ""}, {"/api-addons/admin/purchases/pur_1/refuse", ""},
		{"/api-addons/admin/webhooks/new", "/api-addons/admin/webhooks"}, {"/api-addons/admin/webhooks/1/edit", ""},
	}
	for _, f := range forms {
		if f.path == "" {
			f.path = f.page
		}
		whole := b.Get(f.page).Form(f.path)
		for name := range whole {
			if name == "revision" || name == "ends" || name == "_form" {
				continue
			}
			form := b.Get(f.page).Form(f.path)
			if form.Has("password") {
				form.Set("password", password)
			}
			form.Set(name, script)
			p := b.PostForm(f.path, form) // every answer is checked for inline scripts and handlers
			if p.Root != nil && len(p.Having("src", "x")) > 0 {
				t.Errorf("%s, field %s: the text became an element", f.page, name)
			}
		}
	}
	b.Fill("/api-addons/admin/app/settings", "/api-addons/admin/app/settings", "appName", script).Status(http.StatusSeeOther)
	s.wantValue(t, settings.KeyAppName, script)
	for _, r := range routes(t, "admin") {
		if r.method == "GET" {
			p := b.Get(r.path + "?about=" + "%3Cscript%3E&who=%22%3E%3Cimg+src%3Dx%3E")
			if p.Root != nil && strings.HasPrefix(p.Header.Get("Content-Type"), "text/html") && len(p.Having("src", "x")) > 0 {
				t.Errorf("%s: a text became an element", r.path)
			}
		}
	}
	b.Get("/api-addons/admin/packages").Says("<script>alert(1)</script>")
	b.Get("/admincp/apis").Says("<script>alert(1)</script>")
	b.Get("/api-addons/admin/audit").Says("<script>alert(1)</script>")
}

func TestFormsThatCanNotBeReadAreRefused(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	before := s.audits(t)
	huge := "note=" + strings.Repeat("x", 2<<20)
	for _, r := range routes(t, "admin") {
		if r.method != "POST" || strings.HasSuffix(r.path, "/remove") || strings.HasSuffix(r.path, "/test") || strings.HasSuffix(r.path, "/products") {
			continue
		}
		send := func(body string) int {
			return b.Send("POST", r.path, strings.NewReader(body), "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin").StatusCode
		}
		for body, want := range map[string]int{"name=%zz": 400, "name=%ff": 400, "name=a%00b": 400, huge: 413} {
			if got := send(body); got != want && got != http.StatusNotFound {
				t.Errorf("POST %s with %.20q…: %d, want %d", r.path, body, got, want)
			}
		}
	}
	s.wantAudits(t, before)
}

// audits is how many lines the audit log has.
func (s *site) audits(t *testing.T) int {
	t.Helper()
	lines := must.Get(s.Instance.People.Audit(t.Context(), operator, people.AuditFilter{Limit: 500}))(t)
	return len(lines)
}

// wantAudits fails the test when something was written down meanwhile.
func (s *site) wantAudits(t *testing.T, before int) {
	t.Helper()
	if now := s.audits(t); now != before {
		lines, _ := s.Instance.People.Audit(t.Context(), operator, people.AuditFilter{Limit: now - before})
		var all []string
		for _, l := range lines {
			all = append(all, fmt.Sprintf("%s %s", l.Action, l.Subject))
		}
		t.Errorf("something was changed: %q", all)
	}
}
