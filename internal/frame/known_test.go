package frame_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// lockOut guesses the administrator's password from other browsers of the same
// address until one that is not known is refused.
func (s *site) lockOut(t *testing.T) {
	t.Helper()
	for range 100 {
		if p := s.browser(t).post("/admincp/login", "email", email, "password", "not the right words"); p.StatusCode == http.StatusTooManyRequests {
			return
		}
	}
	t.Fatal("a hundred wrong passwords were not limited")
}

func TestBrowserThatHasSignedInBeforeGetsInWhileOthersGuess(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b := s.signedIn(t)
		b.post("/admincp/logout").leadsTo("/admincp/login")
		s.lockOut(t)
		s.browser(t).post("/admincp/login", "email", email, "password", password).status(http.StatusTooManyRequests)
		b.post("/admincp/login", "email", email, "password", "not the right words").status(http.StatusUnprocessableEntity)
		b.post("/admincp/login", "email", email, "password", password).leadsTo("/admin")

		before := b.known()
		b.post("/admincp/me/security/password", "old", password, "new", changed).leadsTo("/admincp/me/security")
		b.post("/admincp/logout").leadsTo("/admincp/login")
		b.post("/admincp/login", "email", email, "password", changed).leadsTo("/admin") // it was renewed
		old := s.browser(t)
		old.send("POST", "/admincp/login", strings.NewReader("email=ada%40site.example&password=five+more+quiet+green+words"),
			"Content-Type", "application/x-www-form-urlencoded", "Cookie", "countersign_known="+before).status(http.StatusTooManyRequests)
	})
}

// known is the value of the cookie of a known browser, "" without one.
func (b *browser) known() string {
	r, err := http.NewRequest("GET", b.site.server.URL+b.site.base+"/", nil)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, c := range b.Jar.Cookies(r.URL) {
		if c.Name == "countersign_known" {
			return c.Value
		}
	}
	return ""
}

func TestCookieOfAKnownBrowserLastsAndIsHttpOnly(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		secret, _ := s.signedIn(t).turnOnTOTP()
		s.clock.move(time.Minute)
		b := s.browser(t)
		b.post("/admincp/login", "email", email, "password", password).leadsTo("/admincp/2fa")
		if b.known() != "" {
			t.Error("the password alone makes a browser known")
		}
		p := b.post("/admincp/2fa", "code", s.code(t, secret)).leadsTo("/admin")
		cookies := p.Cookies()
		last := cookies[len(cookies)-1]
		if last.Name != "countersign_known" || !last.HttpOnly || last.SameSite != http.SameSiteLaxMode || last.MaxAge != 365*24*60*60 || last.Path != "/" {
			t.Errorf("the cookies are %v", cookies)
		}
		if strings.Contains(last.Value, email) || len(last.Value) > 200 {
			t.Errorf("it holds %q", last.Value)
		}
		b.get("/admin").status(http.StatusOK)
		if b.get("/admincp/me/security").Header.Get("Set-Cookie") != "" {
			t.Error("every page sets it anew")
		}
	})
}
