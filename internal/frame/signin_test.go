package frame_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/people"
)

func TestSignInRefusesEmptyAndWrongAndAcceptsRight(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b := s.browser(t)
		b.get("/admincp/login").status(http.StatusOK).says("Sign in", "Forgotten your password, or locked out?", "countersign addon user reset-password", "countersign addon user sign-in-link")

		p := b.post("/admincp/login").status(http.StatusUnprocessableEntity)
		p.wrong("email", "Type your e-mail.").wrong("password", "Type your password.")

		p = b.post("/admincp/login", "email", email, "password", "not the right words").status(http.StatusUnprocessableEntity)
		p.says("You are not signed in.", "The e-mail or the password is not right").silentAbout("not the right words")
		if got := p.value("email"); got != email {
			t.Errorf("the e-mail was not kept: %q", got)
		}
		stranger := b.post("/admincp/login", "email", "eve@site.example", "password", password).status(http.StatusUnprocessableEntity)
		if got, want := strings.ReplaceAll(stranger.text(), "eve@", "ada@"), p.text(); got != want {
			t.Errorf("an unknown e-mail is told apart:\n%s\n%s", got, want)
		}
		b.get("/admin").leadsTo("/admincp/login?next=%2Fadmin")

		b.post("/admincp/login", "email", "  ADA@site.example ", "password", password).leadsTo("/admin")
		b.get("/admin").status(http.StatusOK).says("signed in as "+email, "Sign out")
		b.get("/admincp/login").leadsTo("/admin")
	})
}

func TestSignInLeadsToThePageThatWasWantedAndNowhereElse(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b := s.browser(t)
		b.get("/admin/history?before=7").leadsTo("/admincp/login?next=%2Fadmin%2Fhistory%3Fbefore%3D7")
		p := b.get("/admincp/login?next=%2Fadmin%2Fhistory%3Fbefore%3D7").status(http.StatusOK)
		if hidden := p.having("name", "next"); len(hidden) != 1 || attr(hidden[0], "value") != "/admin/history?before=7" {
			t.Errorf("the form does not carry the page: %s", p.body)
		}
		s.browser(t).post("/admincp/login", "email", email, "password", password, "next", "/admin/history?before=7").leadsTo("/admin/history?before=7")
		for _, elsewhere := range []string{"https://evil.example/", "//evil.example/", `/\evil.example`, "javascript:alert(1)", "/admincp/login", "/\n/evil.example", ""} {
			s.browser(t).post("/admincp/login", "email", email, "password", password, "next", elsewhere).leadsTo("/admin")
		}
	})
}

func TestManyWrongPasswordsAreToldHowLongToWait(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b := s.browser(t)
		for range 1000 {
			p := b.post("/admincp/login", "email", email, "password", "")
			if p.StatusCode != http.StatusUnprocessableEntity {
				t.Fatalf("an empty password counts: %d", p.StatusCode)
			}
			if p = b.post("/admincp/login", "email", email, "password", "wrong"); p.StatusCode == http.StatusTooManyRequests {
				if said := strings.ToLower(p.text()); strings.Count(said, "try again in") != 1 {
					t.Errorf("it is told more than once how long to wait: %s", said)
				}
				if p.Header.Get("Retry-After") == "" || p.Header.Get("X-Error-Code") != "rate_limited" {
					t.Errorf("the headers do not say why: %v", p.Header)
				}
				return
			}
		}
		t.Error("a thousand wrong passwords were not limited")
	})
}

func TestSessionCookieIsHttpOnlyLaxAndNewWithEachSignIn(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b := s.browser(t)
		p := b.post("/admincp/login", "email", email, "password", password).leadsTo("/admin")
		cookie := p.Header.Get("Set-Cookie")
		for _, want := range []string{"HttpOnly", "SameSite=Lax", "Path=/"} {
			if !strings.Contains(cookie, want) {
				t.Errorf("the cookie has no %s: %s", want, cookie)
			}
		}
		if strings.Contains(cookie, "Secure") || strings.Contains(cookie, "Expires") {
			t.Errorf("over http, until the browser closes: %s", cookie)
		}
		first := b.token()
		b.post("/admincp/login", "email", email, "password", password).leadsTo("/admin")
		if b.token() == first {
			t.Error("a second sign-in kept the token")
		}
		s.holds(t, first, false)
		s.holds(t, b.token(), true)
	})
}

// holds reports whether somebody with this token in the cookie is signed in.
func (s *site) holds(t *testing.T, token string, want bool) {
	t.Helper()
	p := s.browser(t).get("/admin", "Cookie", "countersign_session="+token)
	if signedIn := p.StatusCode == http.StatusOK; signedIn != want {
		t.Errorf("the token signs in: %t instead of %t (%d)", signedIn, want, p.StatusCode)
	}
}

func TestForgedAndPlantedTokensSignNobodyIn(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		planted := "planted-by-somebody-else-planted-by-somebody"
		for _, forged := range []string{planted, "", "x", "../../etc/passwd", strings.Repeat("A", 4000), "%00", "1"} {
			s.holds(t, forged, false)
		}
		b := s.browser(t)
		p := b.send("POST", "/admincp/login", strings.NewReader("email=ada%40site.example&password=four+quiet+green+words"),
			"Content-Type", "application/x-www-form-urlencoded", "Cookie", "countersign_session="+planted)
		p.leadsTo("/admin")
		if b.token() == planted || b.token() == "" {
			t.Errorf("the planted token was kept: %q", b.token())
		}
		s.holds(t, planted, false)
	})
}

func TestSignOutEndsTheSession(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b := s.signedIn(t)
		token := b.token()
		b.get("/admincp/logout").leadsTo("/admin")
		s.holds(t, token, true)
		b.post("/admincp/logout").leadsTo("/admincp/login")
		s.holds(t, token, false)
		b.get("/admincp/login").status(http.StatusOK).says("You are signed out.")
		if again := b.get("/admincp/login").text(); strings.Contains(again, "You are signed out.") {
			t.Error("the flash was shown twice")
		}
	})
}

func TestSessionEndsAfterTwelveIdleHoursAndAfterThirtyDays(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		idle, busy := s.signedIn(t), s.signedIn(t)
		for range 3 {
			s.clock.move(5 * time.Hour)
			busy.get("/admin").status(http.StatusOK)
		}
		idle.get("/admin").leadsTo("/admincp/login?next=%2Fadmin")
		for range 30*24/5 - 4 {
			s.clock.move(5 * time.Hour)
			busy.get("/admin").status(http.StatusOK)
		}
		s.clock.move(11 * time.Hour)
		busy.get("/admin").leadsTo("/admincp/login?next=%2Fadmin")
	})
}

func TestOneTimeLinkSignsInOnce(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		token, _, err := s.NewSignInLink(t.Context(), operator, email)
		if err != nil {
			t.Fatal(err)
		}
		b := s.browser(t)
		b.get("/admincp/link").status(http.StatusOK).says("Sign in by link")
		b.post("/admincp/link", "token", " ").status(http.StatusUnprocessableEntity).wrong("token", "Paste the link.")
		b.post("/admincp/link", "token", "nonsense").status(http.StatusForbidden).wrong("token", "")
		b.post("/admincp/link", "token", s.server.URL+"/admincp/link#"+token).leadsTo("/admin")
		b.get("/admin").status(http.StatusOK).says("signed in as " + email)
		s.browser(t).post("/admincp/link", "token", token).status(http.StatusForbidden).wrong("token", "").silentAbout(token)
	})
}

func TestEverybodyIsLedToSetUpUntilThereIsAnAdministrator(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.browser(t)
		b.get("/admin").leadsTo("/admincp/setup")
		b.post("/admin", "name", "x").leadsTo("/admincp/setup")
		b.get("/admincp/login").leadsTo("/admincp/setup")
		b.get("/admincp/setup").status(http.StatusOK).says("Create the first administrator", "countersign addon setup-link")
		if b.token() != "" {
			t.Error("a visitor who did nothing has a session")
		}
	})
}

func TestSetUpMakesTheAdministratorOnce(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		token, _, err := s.NewSetupLink(t.Context(), operator)
		if err != nil {
			t.Fatal(err)
		}
		b := s.browser(t)
		b.post("/admincp/setup").status(http.StatusUnprocessableEntity).
			wrong("token", "Paste the set-up link.").wrong("email", "Type your e-mail.").wrong("password", "Choose a password.")
		b.post("/admincp/setup", "token", "nonsense", "email", email, "password", password).status(http.StatusForbidden).wrong("token", "")
		p := b.post("/admincp/setup", "token", token, "email", email, "password", "short").status(http.StatusUnprocessableEntity)
		p.wrong("password", "12 characters")
		if p.value("email") != email || p.value("token") != token {
			t.Error("what was typed is gone")
		}
		b.post("/admincp/setup", "token", token, "email", "no e-mail", "password", password).status(http.StatusUnprocessableEntity).
			wrong("email", "").silentAbout(password)
		if found, err := s.Users(t.Context(), operator); err != nil || len(found) != 0 {
			t.Fatalf("a refused set-up made %v, %v", found, err)
		}
		b.post("/admincp/setup", "token", "https://site.example/admincp/setup#"+token, "email", email, "password", password).leadsTo("/admin")
		b.get("/admin").status(http.StatusOK).says("signed in as "+email, "Welcome.")

		s.browser(t).post("/admincp/setup", "token", token, "email", "eve@site.example", "password", password).status(http.StatusConflict)
		s.browser(t).get("/admincp/setup").status(http.StatusOK).says("Set up already")
		if found, err := s.Users(t.Context(), operator); err != nil || len(found) != 1 {
			t.Fatalf("users are %v, %v", found, err)
		}
	})
}

// userNow reads the administrator as the database has it.
func (s *site) userNow(t *testing.T) people.User {
	t.Helper()
	all, err := s.Users(t.Context(), operator)
	if err != nil || len(all) != 1 {
		t.Fatalf("users are %v, %v", all, err)
	}
	return all[0]
}
