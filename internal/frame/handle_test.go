package frame_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/frame"
)

func TestFlashIsShownOnceAndScriptInItIsText(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b := s.signedIn(t)
		b.post("/admin", "name", `<script>alert("x")</script>`).leadsTo("/admin")
		p := b.get("/admin").status(http.StatusOK).says(`Kept <script>alert("x")</script>.`)
		if flash := p.having("role", "status"); len(flash) != 1 || !strings.Contains(textOf(flash[0]), "Kept") {
			t.Errorf("the flash is no status: %s", p.body)
		}
		if again := b.get("/admin"); strings.Contains(again.text(), "Kept") {
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
				p := b.send("POST", path, form(), append(headers, "Content-Type", "application/x-www-form-urlencoded")...)
				p.status(http.StatusForbidden).says("another site")
				if p.Header.Get("X-Error-Code") != "cross_site" || p.Header.Get("Set-Cookie") != "" {
					t.Errorf("%s %v: %v", path, headers, p.Header)
				}
			}
		}
		if p := b.get("/admin").status(http.StatusOK); strings.Contains(p.text(), "Kept") {
			t.Error("a refused form was kept")
		}
	})
}

func TestFormsFromTheBaseURLAreOursWhenAProxyChangesTheHost(t *testing.T) {
	s := newSite(t, dbtest.New(t, dbtest.SQLite), func(o *frame.Options) { o.Origin = "http://shop.example" })
	s.administrator(t)
	b := s.signedIn(t)
	b.send("POST", "/admin", strings.NewReader("name=x"), "Content-Type", "application/x-www-form-urlencoded", "Origin", "http://shop.example").leadsTo("/admin")
	b.send("POST", "/admin", strings.NewReader("name=x"), "Content-Type", "application/x-www-form-urlencoded", "Origin", "http://evil.example").status(http.StatusForbidden)
}

func TestNobodySignedInIsLedToSignInAndTold401AsJSON(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b := s.browser(t)
		b.get("/admin").leadsTo("/admincp/login?next=%2Fadmin")
		b.post("/admin", "name", "x").leadsTo("/admincp/login")
		b.get("/admincp/login").says("Nothing was saved: nobody is signed in any more.")
		p := b.get("/admin", "Accept", "application/json, */*").status(http.StatusUnauthorized)
		var body map[string]string
		if err := json.Unmarshal([]byte(p.body), &body); err != nil {
			t.Fatal(err)
		}
		if body["status"] != "error" || body["code"] != "sign_in_needed" || body["msg"] == "" || body["msg"] != body["message"] || len(body) != 4 {
			t.Errorf("the error is %v", body)
		}
		if p.Header.Get("WWW-Authenticate") == "" {
			t.Error("401 without WWW-Authenticate")
		}
		b.get("/admin", "Accept", "application/json").status(http.StatusNotAcceptable) // signing in would not help
		b.get("/admincp/me/security", "Accept", "application/json").status(http.StatusNotAcceptable)
	})
}

func TestErrorsBecomePagesThatDoNotTellTheCause(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b := s.signedIn(t)
		b.get("/admin/nothing/here").status(http.StatusNotFound).says("Page not found", "/admin/nothing/here")
		for _, path := range []string{"/admin/broken", "/admin/panic"} {
			p := b.get(path).status(http.StatusInternalServerError).says("Something went wrong here").silentAbout("unexpected EOF", "the cause", "goroutine")
			id := p.Header.Get("X-Request-Id")
			if id == "" || p.value("request-id") != id {
				t.Errorf("%s: the page shows %q, the header %q", path, p.value("request-id"), id)
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
		p := b.get("/admin/broken", "Accept", "application/json").status(http.StatusInternalServerError)
		if !strings.HasPrefix(p.Header.Get("Content-Type"), "application/json") || strings.Contains(p.body, "EOF") {
			t.Errorf("as JSON: %s", p.body)
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
				b.send("POST", "/admin", strings.NewReader(c.body), "Content-Type", c.contentType).status(c.status).says("Nothing was saved")
			})
		}
	})
}

func TestAddressesThatAreNoTextAreRefused(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b := s.signedIn(t)
		b.get("/admin/a%00b").status(http.StatusNotFound)
		b.get("/admin/%ff").status(http.StatusNotFound)
		for _, query := range []string{"?q=%00", "?q=%ff", "?%00=1", "?q=%zz", "?q=1;2"} {
			b.get("/admin" + query).status(http.StatusBadRequest)
		}
		b.get("/admin/..%2f..%2fetc%2fpasswd").status(http.StatusNotFound)
		b.get("/admin?q=ok").status(http.StatusOK)
	})
}

func TestUnderAPathPrefixEverythingStaysBelowIt(t *testing.T) {
	for _, engine := range []string{dbtest.SQLite, dbtest.Postgres} {
		t.Run(engine, func(t *testing.T) {
			s := newSite(t, dbtest.New(t, engine), func(o *frame.Options) { o.BasePath, o.Secure = "/shop/x", true })
			s.administrator(t)
			b := s.browser(t)
			p := b.post("/admincp/login", "email", email, "password", password).leadsTo("/admin")
			cookie := p.Header.Get("Set-Cookie")
			if !strings.Contains(cookie, "Path=/shop/x/") || !strings.Contains(cookie, "Secure") {
				t.Errorf("the cookie is %s", cookie)
			}
			if got := p.Header.Get("Strict-Transport-Security"); got == "" {
				t.Error("https without Strict-Transport-Security")
			}
			p = b.get("/admin", "Cookie", cookie[:strings.Index(cookie, ";")]).status(http.StatusOK).says("signed in as " + email)
			b.get(strings.TrimPrefix(attr(p.having("rel", "stylesheet")[0], "href"), "/shop/x")).status(http.StatusOK)
			for _, path := range []string{"/shop/x", "/shop/x/"} {
				answer, err := b.Get(s.server.URL + path)
				if err != nil {
					t.Fatal(err)
				}
				answer.Body.Close()
				if answer.StatusCode != http.StatusNotFound {
					t.Errorf("%s: %d", path, answer.StatusCode)
				}
			}
			s.base = ""
			plain := s.browser(t).get("/admincp/login", "Accept", "application/json")
			if plain.StatusCode != http.StatusNotAcceptable { // there is a page
				t.Errorf("without the prefix: %d", plain.StatusCode)
			}
		})
	}
}

func TestBeforeTheInstallEveryPageLeadsToHelp(t *testing.T) {
	s := newSite(t, dbtest.New(t, dbtest.SQLite), func(o *frame.Options) {
		o.Installed, o.UpdatePage, o.SetupFile = func() bool { return false }, "/api-addons/update.php", "setup-token"
	})
	s.database.Close() // nothing may ask it
	b := s.browser(t)
	for _, path := range []string{"/admin", "/admincp/login", "/admincp/2fa", "/admincp/link", "/admincp/me/security", "/admincp/me/sessions"} {
		b.get(path, "Cookie", "countersign_session=x").leadsTo("/admincp/setup")
	}
	for _, path := range []string{"/admin", "/admincp/login", "/admincp/2fa", "/admincp/link", "/admincp/setup", "/admincp/logout"} {
		b.post(path, "email", email, "password", password).leadsTo("/admincp/setup")
	}
	b.get("/admincp/setup").status(http.StatusOK).says("Run the update first", "countersign addon update", "Open the update page")
}

func TestVisitorTellsWhoIsSignedInToOtherFaces(t *testing.T) {
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
		cookie := "countersign_session=" + b.token()
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
