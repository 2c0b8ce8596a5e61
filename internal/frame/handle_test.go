package frame_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/webtest"
)

func TestFlashIsShownOnceAndScriptInItIsText(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b := s.signedIn(t)
		b.Post("/admin", "name", `<script>alert("x")</script>`).LeadsTo("/admin")
		p := b.Get("/admin").Status(http.StatusOK).Says(`Kept <script>alert("x")</script>.`)
		if flash := p.Having("role", "status"); len(flash) != 1 || !strings.Contains(webtest.TextOf(flash[0]), "Kept") {
			t.Errorf("the flash is no status: %s", p.Body)
		}
		if again := b.Get("/admin"); strings.Contains(again.Text(), "Kept") {
			t.Error("the flash was shown twice")
		}
	})
}

func TestPostsFromOtherSitesAreRefusedAndChangeNothing(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b := s.signedIn(t)
		form := func() *strings.Reader {
			return strings.NewReader("name=x&email=ada%40site.example&password=four+quiet+green+words")
		}
		for _, path := range []string{"/admin", "/admincp/login", "/admincp/logout", "/admincp/me/sessions/end", "/admincp/setup", "/admincp/me/security/totp"} {
			for _, headers := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}, {"Origin", "null"}} {
				p := b.Send("POST", path, form(), append(headers, "Content-Type", "application/x-www-form-urlencoded")...)
				p.Status(http.StatusForbidden).Says("another site")
				if p.Header.Get("X-Error-Code") != "cross_site" || p.Header.Get("Set-Cookie") != "" {
					t.Errorf("%s %v: %v", path, headers, p.Header)
				}
			}
		}
		if p := b.Get("/admin").Status(http.StatusOK); strings.Contains(p.Text(), "Kept") {
			t.Error("a refused form was kept")
		}
	})
}

func TestFormsFromTheBaseURLAreOursWhenAProxyChangesTheHost(t *testing.T) {
	s := newSite(t, dbtest.New(t, dbtest.SQLite), func(o *frame.Options) { o.Origin = "http://shop.example" })
	s.administrator(t)
	b := s.signedIn(t)
	b.Send("POST", "/admin", strings.NewReader("name=x"), "Content-Type", "application/x-www-form-urlencoded", "Origin", "http://shop.example").LeadsTo("/admin")
	b.Send("POST", "/admin", strings.NewReader("name=x"), "Content-Type", "application/x-www-form-urlencoded", "Origin", "http://evil.example").Status(http.StatusForbidden)
}

func TestNobodySignedInIsLedToSignInAndTold401AsJSON(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b := s.browser(t)
		b.Get("/admin").LeadsTo("/admincp/login?next=%2Fadmin")
		b.Post("/admin", "name", "x").Status(http.StatusUnprocessableEntity).Says("Nothing was saved: you are no longer signed in.")
		p := b.Get("/admin", "Accept", "application/json, */*").Status(http.StatusUnauthorized)
		var body map[string]string
		must.Do(t, json.Unmarshal([]byte(p.Body), &body))
		if body["status"] != "error" || body["code"] != "sign_in_needed" || body["msg"] == "" || body["msg"] != body["message"] || len(body) != 4 {
			t.Errorf("the error is %v", body)
		}
		if p.Header.Get("WWW-Authenticate") == "" {
			t.Error("401 without WWW-Authenticate")
		}
		b.Get("/admin", "Accept", "application/json").Status(http.StatusNotAcceptable) // signing in would not help
		b.Get("/admincp/me/security", "Accept", "application/json").Status(http.StatusNotAcceptable)
	})
}

func TestErrorsBecomePagesThatDoNotTellTheCause(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b := s.signedIn(t)
		b.Get("/admin/nothing/here").Status(http.StatusNotFound).Says("Page not found", "/admin/nothing/here")
		for _, path := range []string{"/admin/broken", "/admin/panic"} {
			p := b.Get(path).Status(http.StatusInternalServerError).Says("Something went wrong here").SilentAbout("unexpected EOF", "the cause", "goroutine")
			id := p.Header.Get("X-Request-Id")
			if id == "" || p.Value("request-id") != id {
				t.Errorf("%s: the page shows %q, the header %q", path, p.Value("request-id"), id)
			}
			if !strings.Contains(s.log.String(), "request_id="+id) {
				t.Errorf("%s: the log does not know %s", path, id)
			}
		}
		for _, cause := range []string{"unexpected EOF", "the cause"} {
			if !strings.Contains(s.log.String(), cause) {
				t.Errorf("the log does not tell %q", cause)
			}
		}
		p := b.Get("/admin/broken", "Accept", "application/json").Status(http.StatusInternalServerError)
		if !strings.HasPrefix(p.Header.Get("Content-Type"), "application/json") || strings.Contains(p.Body, "EOF") {
			t.Errorf("as JSON: %s", p.Body)
		}
	})
}

func TestBadFormsAreRefused(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b := s.signedIn(t)
		const urlencoded = "application/x-www-form-urlencoded"
		cases := []struct {
			name, contentType, body string
			status                  int
		}{
			{"larger than 1 MB", urlencoded, "name=" + strings.Repeat("x", 1<<20), http.StatusRequestEntityTooLarge},
			{"larger than 1 MB, in parts", "multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\n" + strings.Repeat("x", 1<<20) + "\r\n--b--\r\n", http.StatusRequestEntityTooLarge},
			{"broken escapes", urlencoded, "name=%zz", http.StatusBadRequest},
			{"a NUL", urlencoded, "name=a%00b", http.StatusBadRequest},
			{"invalid UTF-8", urlencoded, "name=%ff", http.StatusBadRequest},
			{"parts without a boundary", "multipart/form-data", "x", http.StatusBadRequest},
			{"parts that end early", "multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nx", http.StatusBadRequest},
		}
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				b.Send("POST", "/admin", strings.NewReader(c.body), "Content-Type", c.contentType).Status(c.status).Says("Nothing was saved")
			})
		}
	})
}

func TestAddressesThatAreNoTextAreRefused(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b := s.signedIn(t)
		b.Get("/admin/a%00b").Status(http.StatusNotFound)
		b.Get("/admin/%ff").Status(http.StatusNotFound)
		for _, query := range []string{"?q=%00", "?q=%ff", "?%00=1", "?q=%zz", "?q=1;2"} {
			b.Get("/admin" + query).Status(http.StatusBadRequest)
		}
		b.Get("/admin/..%2f..%2fetc%2fpasswd").Status(http.StatusNotFound)
		b.Get("/admin?q=ok").Status(http.StatusOK)
	})
}

func TestUnderAPathPrefixEverythingStaysBelowIt(t *testing.T) {
	dbtest.AnEngine(t, func(t *testing.T, at dbtest.DB) {
		s := newSite(t, at, func(o *frame.Options) { o.BasePath, o.Secure, o.Origin = "/shop/x", true, "https://shop.example" })
		s.administrator(t)
		b := s.browser(t)
		p := b.Post("/admincp/login", "email", email, "password", password).LeadsTo("/admin")
		cookie := p.Header.Get("Set-Cookie")
		if !strings.Contains(cookie, "Path=/shop/x/") || !strings.Contains(cookie, "Secure") {
			t.Errorf("the cookie is %s", cookie)
		}
		if got := p.Header.Get("Strict-Transport-Security"); got == "" {
			t.Error("https without Strict-Transport-Security")
		}
		p = b.Get("/admin", "Cookie", cookie[:strings.Index(cookie, ";")]).Status(http.StatusOK).Says("signed in as " + email)
		b.Get(strings.TrimPrefix(webtest.Attr(p.Having("rel", "stylesheet")[0], "href"), "/shop/x")).Status(http.StatusOK)
		for _, path := range []string{"/shop/x", "/shop/x/"} {
			answer := must.Get(b.Client.Get(s.server.URL + path))(t)
			answer.Body.Close()
			expect.Equalf(t, answer.StatusCode, http.StatusNotFound, "%s", path)
		}
		s.base = ""
		plain := s.browser(t).Get("/admincp/login", "Accept", "application/json")
		if plain.StatusCode != http.StatusNotAcceptable { // there is a page
			t.Errorf("without the prefix: %d", plain.StatusCode)
		}
	})
}

func TestBeforeTheInstallEveryPageLeadsToHelp(t *testing.T) {
	s := newSite(t, dbtest.New(t, dbtest.SQLite), func(o *frame.Options) {
		o.Installed, o.UpdatePage, o.SetupFile = func() bool { return false }, "/api-addons/update.php", "setup-token"
	})
	s.database.Close() // nothing may ask it
	b := s.browser(t)
	for _, path := range []string{"/admin", "/admincp/login", "/admincp/2fa", "/admincp/link", "/admincp/me/security", "/admincp/me/sessions"} {
		b.Get(path, "Cookie", "countersign_session=x").LeadsTo("/admincp/setup")
	}
	for _, path := range []string{"/admin", "/admincp/login", "/admincp/2fa", "/admincp/link", "/admincp/setup", "/admincp/logout"} {
		b.Post(path, "email", email, "password", password).LeadsTo("/admincp/setup")
	}
	b.Get("/admincp/setup").Status(http.StatusOK).Says("Run the update first", "countersign addon update", "Open the update page")
}

func TestVisitorTellsWhoIsSignedInToOtherFrontEnds(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b := s.signedIn(t)
		visit := func(method string, headers ...string) (string, bool, error) {
			r := httptest.NewRequest(method, "/api-addons/admin/app/settings", nil)
			for i := 0; i < len(headers); i += 2 {
				r.Header.Set(headers[i], headers[i+1])
			}
			actor, signedIn, err := s.frame.Visitor(httptest.NewRecorder(), r)
			return actor.ID, signedIn, err
		}
		cookie := "countersign_session=" + b.Cookie("countersign_session")
		if id, signedIn, err := visit("POST", "Cookie", cookie); id != email || !signedIn || err != nil {
			t.Errorf("%q %t %v", id, signedIn, err)
		}
		if _, signedIn, err := visit("GET"); signedIn || err != nil {
			t.Errorf("without a cookie: %t %v", signedIn, err)
		}
		if _, signedIn, err := visit("POST", "Cookie", cookie, "Sec-Fetch-Site", "cross-site"); signedIn || err == nil {
			t.Errorf("from another site: %t %v", signedIn, err)
		}
	})
}

// A full disk, or writes that are switched off.
func TestPagesAreReadWhileNothingCanBeWritten(t *testing.T) {
	s := newSite(t, dbtest.New(t, dbtest.SQLite), nil)
	s.administrator(t)
	b := s.signedIn(t)
	b.Post("/admin", "name", "a flash").LeadsTo("/admin")
	_, _ = s.database.Queries().Exec(t.Context(), `PRAGMA query_only = 1`) // whose own commit fails, too
	for range 2 {                                                          // also after the time at which a session is renewed
		b.Get("/admin").Status(http.StatusOK).Says("Kept a flash.").Says("signed in as")
		s.clock.Move(time.Hour)
	}
	s.browser(t).Get("/admin").LeadsTo("/admincp/login?next=%2Fadmin")
	b.Post("/admin", "name", "x").Status(http.StatusServiceUnavailable)
	s.browser(t).Post("/admincp/login", "email", email, "password", password).Status(http.StatusServiceUnavailable)
}
