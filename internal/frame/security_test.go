package frame_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/webtest"
	"github.com/pquerna/otp/totp"
	"golang.org/x/net/html"
)

func TestPasswordChangeNeedsTheOldOneAndEndsOtherSessions(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b, other := s.signedIn(t), s.signedIn(t)
		change := func(old, new string) *webtest.Page {
			return b.Post("/admincp/me/security/password", "old", old, "new", new)
		}
		b.Get("/admincp/me").LeadsTo("/admincp/me/security")
		b.Get("/admincp/me/security").Status(http.StatusOK).Says("Change the password")
		change("", "").Status(http.StatusUnprocessableEntity).Wrong("old", "Type your current password.").Wrong("new", "Choose a new password.")
		change("wrong words all over", changed).Status(http.StatusUnprocessableEntity).Wrong("old", "Wrong password.").SilentAbout(changed, "wrong words all over")
		change(password, "short").Status(http.StatusUnprocessableEntity).Wrong("new", "12 characters")
		change("", "short").Status(http.StatusUnprocessableEntity).Wrong("old", "Type your current password.").Wrong("new", "12 characters")
		change("wrong words all over", "short").Status(http.StatusUnprocessableEntity).Wrong("old", "Wrong password.").Wrong("new", "12 characters")
		change(password, password).Status(http.StatusUnprocessableEntity).Wrong("new", "")
		other.Get("/admin").Status(http.StatusOK)

		before := b.Cookie("countersign_session")
		change(password, changed).LeadsTo("/admincp/me/security")
		b.Get("/admincp/me/security").Status(http.StatusOK).Says("The password was changed.")
		if b.Cookie("countersign_session") == before {
			t.Error("the token stayed")
		}
		s.holds(t, before, false)
		other.Get("/admin").LeadsTo("/admincp/login?next=%2Fadmin")
		s.browser(t).Post("/admincp/login", "email", email, "password", password).Status(http.StatusUnprocessableEntity)
		s.browser(t).Post("/admincp/login", "email", email, "password", changed).LeadsTo("/admin")
	})
}

// turnOnTOTP goes through the pages and returns the secret and the recovery codes.
func (s *site) turnOnTOTP(b *webtest.Browser) (secret string, codes []string) {
	b.T.Helper()
	p := b.Post("/admincp/me/security/totp", "password", password).Status(http.StatusOK)
	secret = p.Value("secret")
	p = b.Post("/admincp/me/security/totp/confirm", "code", s.code(b.T, secret)).Status(http.StatusOK)
	for _, list := range p.Having("aria-label", "Recovery codes") {
		for item := range list.ChildNodes() {
			if item.Type == html.ElementNode {
				codes = append(codes, webtest.TextOf(item))
			}
		}
	}
	return secret, codes
}

// code is what an authenticator app shows now.
func (s *site) code(t *testing.T, secret string) string {
	t.Helper()
	return must.Get(totp.GenerateCode(secret, s.clock.Now()))(t)
}

func TestTwoStepSignInIsTurnedOnByACode(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b, other := s.signedIn(t), s.signedIn(t)
		b.Get("/admincp/me/security/totp").Status(http.StatusOK).Says("Two-step sign-in is turned on after you type a code")
		for _, tt := range []struct{ rule, password, says string }{
			{"the password is asked for", "", "Type your password."},
			{"it must be right", "wrong words all over", "Wrong password."},
		} {
			t.Run(tt.rule, func(t *testing.T) {
				p := b.Post("/admincp/me/security/totp", "password", tt.password).Status(http.StatusUnprocessableEntity)
				p.Wrong("password", tt.says).SilentAbout("wrong words all over")
				if len(p.Having("class", "qr")) > 0 {
					t.Error("a secret is shown")
				}
			})
		}
		b.Post("/admincp/me/security/totp/confirm", "code", "123456").Status(http.StatusConflict) // nothing has begun
		p := b.Post("/admincp/me/security/totp", "password", password).Status(http.StatusOK)
		images := p.All("img")
		if len(images) != 1 || !strings.HasPrefix(webtest.Attr(images[0], "src"), "data:image/png;base64,iVBOR") {
			t.Errorf("no QR code: %s", p.Text())
		}
		if ok, _ := regexp.MatchString(`^[A-Z2-7]{32}$`, p.Value("secret")); !ok {
			t.Errorf("the secret is %q", p.Value("secret"))
		}
		secret := p.Value("secret")
		b.Post("/admincp/me/security/totp/confirm", "code", "").Status(http.StatusUnprocessableEntity).Wrong("code", "Type the six digits")
		b.Post("/admincp/me/security/totp/confirm", "code", "abcdef").Status(http.StatusUnprocessableEntity).Wrong("code", "Wrong code")
		if s.userNow(t).TOTP {
			t.Fatal("a wrong code turned it on")
		}
		before := b.Cookie("countersign_session")
		p = b.Post("/admincp/me/security/totp/confirm", "code", s.code(t, secret)).Status(http.StatusOK).Says("Two-step sign-in is on. You are signed out everywhere else.", "They are shown only once.")
		p.SilentAbout(secret)
		if b.Cookie("countersign_session") == before {
			t.Error("the token stayed")
		}
		other.Get("/admin").LeadsTo("/admincp/login?next=%2Fadmin")
		b.Get("/admincp/me/security").Says("Recovery codes left", "10 codes").SilentAbout(secret)
		b.Post("/admincp/me/security/totp", "password", password).Status(http.StatusConflict)
	})
}

func TestSignInAsksForACodeThatIsGoodOnce(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		secret, recovery := s.turnOnTOTP(s.signedIn(t))
		if len(recovery) != 10 {
			t.Fatalf("recovery codes: %v", recovery)
		}
		b := s.browser(t)
		b.Get("/admincp/2fa").LeadsTo("/admincp/login")
		b.Post("/admincp/2fa", "code", s.code(t, secret)).LeadsTo("/admincp/login")
		b.Post("/admincp/login", "email", email, "password", password, "next", "/admin/history").LeadsTo("/admincp/2fa")
		half := b.Cookie("countersign_session")
		b.Get("/admin").LeadsTo("/admincp/login?next=%2Fadmin")
		b.Get("/admincp/2fa").Status(http.StatusOK).Says("Enter your code")
		b.Post("/admincp/2fa", "code", "").Status(http.StatusUnprocessableEntity).Wrong("code", "Type the six digits")
		b.Post("/admincp/2fa", "code", "000000x").Status(http.StatusUnprocessableEntity).Wrong("code", "Wrong code")
		b.Post("/admincp/2fa", "code", s.code(t, secret)).Status(http.StatusUnprocessableEntity).Wrong("code", "already used")
		s.clock.Move(time.Minute)
		b.Post("/admincp/2fa", "code", s.code(t, secret)).LeadsTo("/admin/history")
		b.Get("/admin").Status(http.StatusOK)
		if b.Cookie("countersign_session") == half {
			t.Error("the token of the half sign-in stayed")
		}
		s.holds(t, half, false)

		for i, want := range []int{http.StatusSeeOther, http.StatusUnprocessableEntity} {
			c := s.browser(t)
			c.Post("/admincp/login", "email", email, "password", password).LeadsTo("/admincp/2fa")
			if got := c.Post("/admincp/2fa", "code", recovery[3]); got.StatusCode != want {
				t.Errorf("use %d of a recovery code: %d", i+1, got.StatusCode)
			}
		}
	})
}

func TestHalfASignInEndsAfterFifteenMinutes(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		secret, _ := s.turnOnTOTP(s.signedIn(t))
		b := s.browser(t)
		b.Post("/admincp/login", "email", email, "password", password).LeadsTo("/admincp/2fa")
		s.clock.Move(15 * time.Minute)
		b.Post("/admincp/2fa", "code", s.code(t, secret)).LeadsTo("/admincp/login")
		b.Get("/admincp/login").Says("took too long")
	})
}

func TestHalfASignInIsWorthNothingAfterThePasswordChanged(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		a := s.signedIn(t)
		secret, _ := s.turnOnTOTP(a)
		thief := s.browser(t)
		thief.Post("/admincp/login", "email", email, "password", password).LeadsTo("/admincp/2fa")
		a.Post("/admincp/me/security/password", "old", password, "new", changed).LeadsTo("/admincp/me/security")
		s.clock.Move(time.Minute)
		thief.Post("/admincp/2fa", "code", s.code(t, secret))
		s.holds(t, thief.Cookie("countersign_session"), false)
	})
}

func TestTwoStepSignInIsTurnedOffByThePassword(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b := s.signedIn(t)
		secret, _ := s.turnOnTOTP(b)
		s.clock.Move(time.Minute)
		other := s.browser(t)
		other.Post("/admincp/login", "email", email, "password", password).LeadsTo("/admincp/2fa")
		other.Post("/admincp/2fa", "code", s.code(t, secret)).LeadsTo("/admin")
		b.Get("/admincp/me/security/totp/off").Status(http.StatusOK).Says("recovery codes stop working")
		b.Post("/admincp/me/security/totp/off").Status(http.StatusUnprocessableEntity).Wrong("password", "Type your password.")
		b.Post("/admincp/me/security/totp/off", "password", "wrong").Status(http.StatusUnprocessableEntity).Wrong("password", "Wrong password.")
		if !s.userNow(t).TOTP {
			t.Fatal("it is off without the password")
		}
		b.Post("/admincp/me/security/totp/off", "password", password).LeadsTo("/admincp/me/security")
		other.Get("/admin").LeadsTo("/admincp/login?next=%2Fadmin")
		b.Get("/admincp/me/security").Says("Two-step sign-in is off. You are signed out everywhere else.")
		s.browser(t).Post("/admincp/login", "email", email, "password", password).LeadsTo("/admin")
	})
}

func TestNewRecoveryCodesNeedThePasswordAndReplaceTheOld(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b := s.signedIn(t)
		_, old := s.turnOnTOTP(b)
		b.Get("/admincp/me/security/codes").Status(http.StatusOK)
		b.Post("/admincp/me/security/codes").Status(http.StatusUnprocessableEntity).Wrong("password", "Type your password.")
		b.Post("/admincp/me/security/codes", "password", "wrong").Status(http.StatusUnprocessableEntity).Wrong("password", "Wrong password.")
		p := b.Post("/admincp/me/security/codes", "password", password).Status(http.StatusOK).Says("New codes were created.")
		p.SilentAbout(old...)
		c := s.browser(t)
		c.Post("/admincp/login", "email", email, "password", password).LeadsTo("/admincp/2fa")
		c.Post("/admincp/2fa", "code", old[0]).Status(http.StatusUnprocessableEntity)
	})
}

func TestSessionsAreListedAndEnded(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b, phone := s.signedIn(t), s.signedIn(t)
		phone.Get("/admin").Status(http.StatusOK)
		p := b.Get("/admincp/me/sessions").Status(http.StatusOK).Says("This browser", "127.0.0.1", "End all other sessions")
		var ends []string
		for _, form := range p.All("form") {
			if action := webtest.Attr(form, "action"); strings.HasSuffix(action, "/end") {
				ends = append(ends, action)
			}
		}
		if len(ends) != 2 || !slices.Contains(ends, "/admincp/me/sessions/end") {
			t.Fatalf("sessions to end: %v", ends)
		}
		b.Post("/admincp/me/sessions/999999/end").Status(http.StatusNotFound).Says("has ended already")
		b.Post("/admincp/me/sessions/one/end").Status(http.StatusNotFound)
		one := slices.DeleteFunc(ends, func(a string) bool { return a == "/admincp/me/sessions/end" })[0]
		b.Post(one).LeadsTo("/admincp/me/sessions")
		phone.Get("/admin").LeadsTo("/admincp/login?next=%2Fadmin")

		third := s.signedIn(t)
		b.Post("/admincp/me/sessions/end").LeadsTo("/admincp/me/sessions")
		b.Get("/admincp/me/sessions").Says("1 session ended.")
		third.Get("/admin").LeadsTo("/admincp/login?next=%2Fadmin")
		b.Get("/admin").Status(http.StatusOK)
	})
}
