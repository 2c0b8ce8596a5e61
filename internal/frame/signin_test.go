package frame_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/webtest"
)

func TestSignInRefusesEmptyAndWrongAndAcceptsRight(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b := s.browser(t)
		b.Get("/admincp/login").Status(http.StatusOK).Says("Sign in", "Forgotten your password, or locked out?", "countersign addon user reset-password", "countersign addon user sign-in-link")

		p := b.Post("/admincp/login").Status(http.StatusUnprocessableEntity)
		p.Wrong("email", "Type your e-mail.").Wrong("password", "Type your password.")

		p = b.Post("/admincp/login", "email", email, "password", "not the right words").Status(http.StatusUnprocessableEntity)
		p.Says("You are not signed in.", "Wrong e-mail or password.").SilentAbout("not the right words")
		expect.Equalf(t, p.Value("email"), email, "the e-mail was not kept")
		stranger := b.Post("/admincp/login", "email", "eve@site.example", "password", password).Status(http.StatusUnprocessableEntity)
		if got, want := strings.ReplaceAll(stranger.Text(), "eve@", "ada@"), p.Text(); got != want {
			t.Errorf("an unknown e-mail is told apart:\n%s\n%s", got, want)
		}
		b.Get("/admin").LeadsTo("/admincp/login?next=%2Fadmin")

		b.Post("/admincp/login", "email", "  ADA@site.example ", "password", password).LeadsTo("/admin")
		b.Get("/admin").Status(http.StatusOK).Says("signed in as "+email, "Sign out")
		b.Get("/admincp/login").LeadsTo("/admin")
	})
}

func TestSignInLeadsToThePageThatWasWantedAndNowhereElse(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b := s.browser(t)
		b.Get("/admin/history?before=7").LeadsTo("/admincp/login?next=%2Fadmin%2Fhistory%3Fbefore%3D7")
		p := b.Get("/admincp/login?next=%2Fadmin%2Fhistory%3Fbefore%3D7").Status(http.StatusOK)
		if hidden := p.Having("name", "next"); len(hidden) != 1 || webtest.Attr(hidden[0], "value") != "/admin/history?before=7" {
			t.Errorf("the form does not carry the page: %s", p.Body)
		}
		s.browser(t).Post("/admincp/login", "email", email, "password", password, "next", "/admin/history?before=7").LeadsTo("/admin/history?before=7")
		for _, elsewhere := range []string{"https://evil.example/", "//evil.example/", `/\evil.example`, "javascript:alert(1)", "/admincp/login", "/\n/evil.example", ""} {
			s.browser(t).Post("/admincp/login", "email", email, "password", password, "next", elsewhere).LeadsTo("/admin")
		}
	})
}

func TestManyWrongPasswordsAreToldHowLongToWait(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b := s.browser(t)
		for range 1000 {
			p := b.Post("/admincp/login", "email", email, "password", "")
			if p.StatusCode != http.StatusUnprocessableEntity {
				t.Fatalf("an empty password counts: %d", p.StatusCode)
			}
			if p = b.Post("/admincp/login", "email", email, "password", "wrong"); p.StatusCode == http.StatusTooManyRequests {
				if said := strings.ToLower(p.Text()); strings.Count(said, "try again in") != 1 {
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
		p := b.Post("/admincp/login", "email", email, "password", password).LeadsTo("/admin")
		cookie := p.Header.Get("Set-Cookie")
		for _, want := range []string{"HttpOnly", "SameSite=Lax", "Path=/"} {
			if !strings.Contains(cookie, want) {
				t.Errorf("the cookie has no %s: %s", want, cookie)
			}
		}
		if strings.Contains(cookie, "Secure") || strings.Contains(cookie, "Expires") {
			t.Errorf("over http, until the browser closes: %s", cookie)
		}
		first := b.Cookie("countersign_session")
		b.Post("/admincp/login", "email", email, "password", password).LeadsTo("/admin")
		if b.Cookie("countersign_session") == first {
			t.Error("a second sign-in kept the token")
		}
		s.holds(t, first, false)
		s.holds(t, b.Cookie("countersign_session"), true)
	})
}

// holds reports whether somebody with this token in the cookie is signed in.
func (s *site) holds(t *testing.T, token string, want bool) {
	t.Helper()
	p := s.browser(t).Get("/admin", "Cookie", "countersign_session="+token)
	expect.Equalf(t, p.StatusCode == http.StatusOK, want, "the token signs in: (%d)", p.StatusCode)
}

func TestForgedAndPlantedTokensSignNobodyIn(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		planted := "planted-by-somebody-else-planted-by-somebody"
		for _, forged := range []string{planted, "", "x", "../../etc/passwd", strings.Repeat("A", 4000), "%00", "1"} {
			s.holds(t, forged, false)
		}
		b := s.browser(t)
		p := b.Send("POST", "/admincp/login", strings.NewReader("email=ada%40site.example&password=four+quiet+green+words"),
			"Content-Type", "application/x-www-form-urlencoded", "Cookie", "countersign_session="+planted)
		p.LeadsTo("/admin")
		if b.Cookie("countersign_session") == planted || b.Cookie("countersign_session") == "" {
			t.Errorf("the planted token was kept: %q", b.Cookie("countersign_session"))
		}
		s.holds(t, planted, false)
	})
}

func TestSignOutEndsTheSession(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b := s.signedIn(t)
		token := b.Cookie("countersign_session")
		b.Get("/admincp/logout").LeadsTo("/admin")
		s.holds(t, token, true)
		b.Post("/admincp/logout").LeadsTo("/admincp/login")
		s.holds(t, token, false)
		b.Get("/admincp/login").Status(http.StatusOK).Says("You are signed out.")
		if again := b.Get("/admincp/login").Text(); strings.Contains(again, "You are signed out.") {
			t.Error("the flash was shown twice")
		}
	})
}

func TestSessionEndsAfterTwelveIdleHoursAndAfterThirtyDays(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		idle, busy := s.signedIn(t), s.signedIn(t)
		for range 3 {
			s.clock.Move(5 * time.Hour)
			busy.Get("/admin").Status(http.StatusOK)
		}
		idle.Get("/admin").LeadsTo("/admincp/login?next=%2Fadmin")
		for range 30*24/5 - 4 {
			s.clock.Move(5 * time.Hour)
			busy.Get("/admin").Status(http.StatusOK)
		}
		s.clock.Move(11 * time.Hour)
		busy.Get("/admin").LeadsTo("/admincp/login?next=%2Fadmin")
	})
}

func TestOneTimeLinkSignsInOnce(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		token, _, err := s.NewSignInLink(t.Context(), operator, email)
		must.Do(t, err)
		b := s.browser(t)
		b.Get("/admincp/link").Status(http.StatusOK).Says("Sign in by link")
		b.Post("/admincp/link", "token", " ").Status(http.StatusUnprocessableEntity).Wrong("token", "Paste the link.")
		b.Post("/admincp/link", "token", "nonsense").Status(http.StatusForbidden).Wrong("token", "")
		b.Post("/admincp/link", "token", s.server.URL+"/admincp/link#"+token).LeadsTo("/admin")
		b.Get("/admin").Status(http.StatusOK).Says("signed in as " + email)
		s.browser(t).Post("/admincp/link", "token", token).Status(http.StatusForbidden).Wrong("token", "").SilentAbout(token)
	})
}

func TestSignInLinksNeverDeadEnd(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		setup, _, err := s.NewSetupLink(t.Context(), operator)
		must.Do(t, err)
		s.browser(t).Post("/admincp/setup", "token", "", "email", "ada", "password", "short").Status(http.StatusUnprocessableEntity).
			Wrong("token", "Paste the set-up link").Wrong("email", "Invalid e-mail address").Wrong("password", "12 characters or more")
		s.browser(t).Post("/admincp/setup", "token", "damaged", "email", "ada", "password", "short").Status(http.StatusForbidden).
			Wrong("token", "countersign addon setup-link").Wrong("email", "Invalid e-mail address").Wrong("password", "12 characters or more")
		s.browser(t).Post("/admincp/setup", "token", "damaged", "email", email, "password", password).Status(http.StatusForbidden).Wrong("token", "countersign addon setup-link")
		s.administrator(t)
		bob, _ := s.another(t, "bob@site.example")
		link := func(email string) string {
			token, _, err := s.NewSignInLink(t.Context(), operator, email)
			must.Do(t, err)
			return token
		}
		used, expired, removed := link(email), link(email), link(bob.Email)
		s.browser(t).Post("/admincp/link", "token", used).LeadsTo("/admin")
		must.Get(s.RemoveUser(t.Context(), operator, bob.ID))(t)
		s.clock.Move(10 * time.Minute)
		for rule, token := range map[string]string{"used": used, "expired": expired, "damaged": "%zz", "of somebody who was removed": removed, "of the set-up": setup} {
			p := s.browser(t).Post("/admincp/link", "token", token).Status(http.StatusForbidden).Wrong("token", "create a new one with: countersign addon user sign-in-link E-MAIL")
			if len(p.Having("href", "/admincp/login")) == 0 {
				t.Errorf("a link that is %s: nothing leads to sign-in", rule)
			}
		}
		signedIn := s.signedIn(t).Get("/admincp/link").Says("You are signed in as " + email)
		if len(signedIn.Having("href", "/admin")) == 0 {
			t.Error("somebody who is signed in is not led on")
		}
		complete := s.browser(t).Post("/admincp/setup", "token", setup, "email", "eve@site.example", "password", password).Status(http.StatusConflict).Says("Setup is complete", "countersign addon user sign-in-link")
		if len(complete.Having("href", "/admincp/login")) == 0 {
			t.Error("nothing leads on from a set-up that is complete")
		}
	})
}

func TestEverybodyIsLedToSetUpUntilThereIsAnAdministrator(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.browser(t)
		b.Get("/admin").LeadsTo("/admincp/setup")
		b.Post("/admin", "name", "x").LeadsTo("/admincp/setup")
		b.Get("/admincp/login").LeadsTo("/admincp/setup")
		b.Get("/admincp/setup").Status(http.StatusOK).Says("Create the first administrator", "countersign addon setup-link")
		expect.Equalf(t, b.Cookie("countersign_session"), "", "a visitor who did nothing has a session")
	})
}

func TestSetUpMakesTheAdministratorOnce(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		token, _, err := s.NewSetupLink(t.Context(), operator)
		must.Do(t, err)
		b := s.browser(t)
		b.Post("/admincp/setup").Status(http.StatusUnprocessableEntity).
			Wrong("token", "Paste the set-up link.").Wrong("email", "Type your e-mail.").Wrong("password", "Choose a password.")
		b.Post("/admincp/setup", "token", "nonsense", "email", email, "password", password).Status(http.StatusForbidden).Wrong("token", "")
		p := b.Post("/admincp/setup", "token", token, "email", email, "password", "short").Status(http.StatusUnprocessableEntity)
		p.Wrong("password", "12 characters")
		if p.Value("email") != email || p.Value("token") != token {
			t.Error("what was typed is gone")
		}
		b.Post("/admincp/setup", "token", token, "email", "no e-mail", "password", password).Status(http.StatusUnprocessableEntity).
			Wrong("email", "").SilentAbout(password)
		if found, err := s.Users(t.Context(), operator); err != nil || len(found) != 0 {
			t.Fatalf("a refused set-up made %v, %v", found, err)
		}
		b.Post("/admincp/setup", "token", "https://site.example/admincp/setup#"+token, "email", email, "password", password).LeadsTo("/admin")
		b.Get("/admin").Status(http.StatusOK).Says("signed in as "+email, "Welcome.")

		s.browser(t).Post("/admincp/setup", "token", token, "email", "eve@site.example", "password", password).Status(http.StatusConflict)
		s.browser(t).Get("/admincp/setup").Status(http.StatusOK).Says("Setup is complete")
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
