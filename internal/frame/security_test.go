package frame_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
	"golang.org/x/net/html"
)

func TestPasswordChangeNeedsTheOldOneAndEndsOtherSessions(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b, other := s.signedIn(t), s.signedIn(t)
		change := func(old, new string) *page {
			return b.post("/admincp/me/security/password", "old", old, "new", new)
		}
		b.get("/admincp/me").leadsTo("/admincp/me/security")
		b.get("/admincp/me/security").status(http.StatusOK).says("Change the password")
		change("", "").status(http.StatusUnprocessableEntity).wrong("old", "Type the password").wrong("new", "Choose a new password.")
		change("wrong words all over", changed).status(http.StatusUnprocessableEntity).wrong("old", "not right").silentAbout(changed, "wrong words all over")
		change(password, "short").status(http.StatusUnprocessableEntity).wrong("new", "12 characters")
		change(password, password).status(http.StatusUnprocessableEntity).wrong("new", "")
		other.get("/admin").status(http.StatusOK)

		before := b.token()
		change(password, changed).leadsTo("/admincp/me/security")
		b.get("/admincp/me/security").status(http.StatusOK).says("The password was changed.")
		if b.token() == before {
			t.Error("the token stayed")
		}
		s.holds(t, before, false)
		other.get("/admin").leadsTo("/admincp/login?next=%2Fadmin")
		s.browser(t).post("/admincp/login", "email", email, "password", password).status(http.StatusUnprocessableEntity)
		s.browser(t).post("/admincp/login", "email", email, "password", changed).leadsTo("/admin")
	})
}

// turnOnTOTP goes through the pages and returns the secret and the recovery codes.
func (b *browser) turnOnTOTP() (secret string, codes []string) {
	b.t.Helper()
	p := b.post("/admincp/me/security/totp", "password", password).status(http.StatusOK)
	secret = p.value("secret")
	p = b.post("/admincp/me/security/totp/confirm", "code", b.site.code(b.t, secret)).status(http.StatusOK)
	for _, list := range p.having("class", "codes") {
		for item := range list.ChildNodes() {
			if item.Type == html.ElementNode {
				codes = append(codes, textOf(item))
			}
		}
	}
	return secret, codes
}

// code is what an authenticator app shows now.
func (s *site) code(t *testing.T, secret string) string {
	t.Helper()
	c, err := totp.GenerateCode(secret, s.clock.now())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTwoStepSignInIsTurnedOnByACode(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b, other := s.signedIn(t), s.signedIn(t)
		b.get("/admincp/me/security/totp").status(http.StatusOK).says("Nothing changes before you have typed a code")
		for _, tt := range []struct{ rule, password, says string }{
			{"the password is asked for", "", "Type your password."},
			{"it must be right", "wrong words all over", "not right"},
		} {
			t.Run(tt.rule, func(t *testing.T) {
				p := b.post("/admincp/me/security/totp", "password", tt.password).status(http.StatusUnprocessableEntity)
				p.wrong("password", tt.says).silentAbout("wrong words all over")
				if len(p.having("class", "qr")) > 0 {
					t.Error("a secret is shown")
				}
			})
		}
		b.post("/admincp/me/security/totp/confirm", "code", "123456").status(http.StatusConflict) // nothing has begun
		p := b.post("/admincp/me/security/totp", "password", password).status(http.StatusOK)
		images := p.all("img")
		if len(images) != 1 || !strings.HasPrefix(attr(images[0], "src"), "data:image/png;base64,iVBOR") {
			t.Errorf("no QR code: %s", p.text())
		}
		if ok, _ := regexp.MatchString(`^[A-Z2-7]{32}$`, p.value("secret")); !ok {
			t.Errorf("the secret is %q", p.value("secret"))
		}
		secret := p.value("secret")
		b.post("/admincp/me/security/totp/confirm", "code", "").status(http.StatusUnprocessableEntity).wrong("code", "Type the six digits")
		b.post("/admincp/me/security/totp/confirm", "code", "abcdef").status(http.StatusUnprocessableEntity).wrong("code", "not right")
		if s.userNow(t).TOTP {
			t.Fatal("a wrong code turned it on")
		}
		before := b.token()
		p = b.post("/admincp/me/security/totp/confirm", "code", s.code(t, secret)).status(http.StatusOK).says("Two-step sign-in is on. You are signed out everywhere else.", "never again")
		p.silentAbout(secret)
		if b.token() == before {
			t.Error("the token stayed")
		}
		other.get("/admin").leadsTo("/admincp/login?next=%2Fadmin")
		b.get("/admincp/me/security").says("Recovery codes left", "10 codes").silentAbout(secret)
		b.post("/admincp/me/security/totp", "password", password).status(http.StatusConflict)
	})
}

func TestSignInAsksForACodeThatIsGoodOnce(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		secret, recovery := s.signedIn(t).turnOnTOTP()
		if len(recovery) != 10 {
			t.Fatalf("recovery codes: %v", recovery)
		}
		b := s.browser(t)
		b.get("/admincp/2fa").leadsTo("/admincp/login")
		b.post("/admincp/2fa", "code", s.code(t, secret)).leadsTo("/admincp/login")
		b.post("/admincp/login", "email", email, "password", password, "next", "/admin/history").leadsTo("/admincp/2fa")
		half := b.token()
		b.get("/admin").leadsTo("/admincp/login?next=%2Fadmin")
		b.get("/admincp/2fa").status(http.StatusOK).says("Enter your code")
		b.post("/admincp/2fa", "code", "").status(http.StatusUnprocessableEntity).wrong("code", "Type the six digits")
		b.post("/admincp/2fa", "code", "000000x").status(http.StatusUnprocessableEntity).wrong("code", "not right")
		b.post("/admincp/2fa", "code", s.code(t, secret)).status(http.StatusUnprocessableEntity).wrong("code", "was used already")
		s.clock.move(time.Minute)
		b.post("/admincp/2fa", "code", s.code(t, secret)).leadsTo("/admin/history")
		b.get("/admin").status(http.StatusOK)
		if b.token() == half {
			t.Error("the token of the half sign-in stayed")
		}
		s.holds(t, half, false)

		for i, want := range []int{http.StatusSeeOther, http.StatusUnprocessableEntity} {
			c := s.browser(t)
			c.post("/admincp/login", "email", email, "password", password).leadsTo("/admincp/2fa")
			if got := c.post("/admincp/2fa", "code", recovery[3]); got.StatusCode != want {
				t.Errorf("use %d of a recovery code: %d", i+1, got.StatusCode)
			}
		}
	})
}

func TestHalfASignInEndsAfterFifteenMinutes(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		secret, _ := s.signedIn(t).turnOnTOTP()
		b := s.browser(t)
		b.post("/admincp/login", "email", email, "password", password).leadsTo("/admincp/2fa")
		s.clock.move(15 * time.Minute)
		b.post("/admincp/2fa", "code", s.code(t, secret)).leadsTo("/admincp/login")
		b.get("/admincp/login").says("took too long")
	})
}

func TestHalfASignInIsWorthNothingAfterThePasswordChanged(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		a := s.signedIn(t)
		secret, _ := a.turnOnTOTP()
		thief := s.browser(t)
		thief.post("/admincp/login", "email", email, "password", password).leadsTo("/admincp/2fa")
		a.post("/admincp/me/security/password", "old", password, "new", changed).leadsTo("/admincp/me/security")
		s.clock.move(time.Minute)
		thief.post("/admincp/2fa", "code", s.code(t, secret))
		s.holds(t, thief.token(), false)
	})
}

func TestTwoStepSignInIsTurnedOffByThePassword(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b := s.signedIn(t)
		secret, _ := b.turnOnTOTP()
		s.clock.move(time.Minute)
		other := s.browser(t)
		other.post("/admincp/login", "email", email, "password", password).leadsTo("/admincp/2fa")
		other.post("/admincp/2fa", "code", s.code(t, secret)).leadsTo("/admin")
		b.get("/admincp/me/security/totp/off").status(http.StatusOK).says("recovery codes stop working")
		b.post("/admincp/me/security/totp/off").status(http.StatusUnprocessableEntity).wrong("password", "Type your password.")
		b.post("/admincp/me/security/totp/off", "password", "wrong").status(http.StatusUnprocessableEntity).wrong("password", "not right")
		if !s.userNow(t).TOTP {
			t.Fatal("it is off without the password")
		}
		b.post("/admincp/me/security/totp/off", "password", password).leadsTo("/admincp/me/security")
		other.get("/admin").leadsTo("/admincp/login?next=%2Fadmin")
		b.get("/admincp/me/security").says("Two-step sign-in is off. You are signed out everywhere else.")
		s.browser(t).post("/admincp/login", "email", email, "password", password).leadsTo("/admin")
	})
}

func TestNewRecoveryCodesNeedThePasswordAndReplaceTheOld(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b := s.signedIn(t)
		_, old := b.turnOnTOTP()
		b.get("/admincp/me/security/codes").status(http.StatusOK)
		b.post("/admincp/me/security/codes").status(http.StatusUnprocessableEntity).wrong("password", "Type your password.")
		b.post("/admincp/me/security/codes", "password", "wrong").status(http.StatusUnprocessableEntity).wrong("password", "not right")
		p := b.post("/admincp/me/security/codes", "password", password).status(http.StatusOK).says("New codes were made.")
		p.silentAbout(old...)
		c := s.browser(t)
		c.post("/admincp/login", "email", email, "password", password).leadsTo("/admincp/2fa")
		c.post("/admincp/2fa", "code", old[0]).status(http.StatusUnprocessableEntity)
	})
}

func TestSessionsAreListedAndEnded(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b, phone := s.signedIn(t), s.signedIn(t)
		phone.get("/admin").status(http.StatusOK)
		p := b.get("/admincp/me/sessions").status(http.StatusOK).says("This browser", "127.0.0.1", "End all other sessions")
		var ends []string
		for _, form := range p.all("form") {
			if action := attr(form, "action"); strings.HasSuffix(action, "/end") {
				ends = append(ends, action)
			}
		}
		if len(ends) != 2 || !slices.Contains(ends, "/admincp/me/sessions/end") {
			t.Fatalf("sessions to end: %v", ends)
		}
		b.post("/admincp/me/sessions/999999/end").status(http.StatusNotFound).says("has ended already")
		b.post("/admincp/me/sessions/one/end").status(http.StatusNotFound)
		one := slices.DeleteFunc(ends, func(a string) bool { return a == "/admincp/me/sessions/end" })[0]
		b.post(one).leadsTo("/admincp/me/sessions")
		phone.get("/admin").leadsTo("/admincp/login?next=%2Fadmin")

		third := s.signedIn(t)
		b.post("/admincp/me/sessions/end").leadsTo("/admincp/me/sessions")
		b.get("/admincp/me/sessions").says("1 session ended.")
		third.get("/admin").leadsTo("/admincp/login?next=%2Fadmin")
		b.get("/admin").status(http.StatusOK)
	})
}
