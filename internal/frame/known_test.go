package frame_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
)

// lockOut guesses the administrator's password from other browsers of the same
// address until one that is not known is refused.
func (s *site) lockOut(t *testing.T) {
	t.Helper()
	for range 100 {
		if p := s.browser(t).Post("/admincp/login", "email", email, "password", "not the right words"); p.StatusCode == http.StatusTooManyRequests {
			return
		}
	}
	t.Fatal("a hundred wrong passwords were not limited")
}

func TestBrowserThatHasSignedInBeforeGetsInWhileOthersGuess(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b := s.signedIn(t)
		b.Post("/admincp/logout").LeadsTo("/admincp/login")
		s.lockOut(t)
		s.browser(t).Post("/admincp/login", "email", email, "password", password).Status(http.StatusTooManyRequests)
		b.Post("/admincp/login", "email", email, "password", "not the right words").Status(http.StatusUnprocessableEntity)
		b.Post("/admincp/login", "email", email, "password", password).LeadsTo("/admin")

		before := b.Cookie("countersign_known")
		b.Post("/admincp/me/security/password", "old", password, "new", changed).LeadsTo("/admincp/me/security")
		b.Post("/admincp/logout").LeadsTo("/admincp/login")
		b.Post("/admincp/login", "email", email, "password", changed).LeadsTo("/admin") // it was renewed
		old := s.browser(t)
		old.Send("POST", "/admincp/login", strings.NewReader("email=ada%40site.example&password=five+more+quiet+green+words"),
			"Content-Type", "application/x-www-form-urlencoded", "Cookie", "countersign_known="+before).Status(http.StatusTooManyRequests)
	})
}

func TestCookieOfAKnownBrowserLastsAndIsHttpOnly(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		secret, _ := s.turnOnTOTP(s.signedIn(t))
		s.clock.Move(time.Minute)
		b := s.browser(t)
		b.Post("/admincp/login", "email", email, "password", password).LeadsTo("/admincp/2fa")
		expect.Equalf(t, b.Cookie("countersign_known"), "", "the password alone makes a browser known")
		p := b.Post("/admincp/2fa", "code", s.code(t, secret)).LeadsTo("/admin")
		cookies := p.Cookies()
		last := cookies[len(cookies)-1]
		if last.Name != "countersign_known" || !last.HttpOnly || last.SameSite != http.SameSiteLaxMode || last.MaxAge != 365*24*60*60 || last.Path != "/" {
			t.Errorf("the cookies are %v", cookies)
		}
		if strings.Contains(last.Value, email) || len(last.Value) > 200 {
			t.Errorf("it holds %q", last.Value)
		}
		b.Get("/admin").Status(http.StatusOK)
		expect.Equalf(t, b.Get("/admincp/me/security").Header.Get("Set-Cookie"), "", "every page sets it anew")
	})
}
