package people

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/pquerna/otp/totp"
)

// code is what an authenticator app shows at the fixture's time.
func (f *fixture) code(t *testing.T, secret string) string {
	t.Helper()
	return f.codeAt(t, secret, 0)
}

// codeAt is what it shows some periods later.
func (f *fixture) codeAt(t *testing.T, secret string, periods int) string {
	t.Helper()
	return must.Get(totp.GenerateCode(secret, f.clock.Now().Add(time.Duration(periods)*30*time.Second)))(t)
}

// enableTOTP turns two-step sign-in on, and lets the time go by in which its
// first code could be used again.
func (f *fixture) enableTOTP(t *testing.T, a Actor, password string) (secret string, recovery []string) {
	t.Helper()
	s, err := f.BeginTOTP(t.Context(), a, password, "Countersign addon")
	must.Do(t, err)
	_, recovery, err = f.ConfirmTOTP(t.Context(), a, 0, f.code(t, s.Secret))
	must.Do(t, err)
	f.clock.Move(time.Minute)
	return s.Secret, recovery
}

func TestTwoStepSignInBeginsWithItsFirstCode(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		_, ada := f.administrator(t)
		_, _, err := f.ConfirmTOTP(t.Context(), ada, 0, "123456")
		wantCode(t, err, "totp_not_begun")
		begun, err := f.BeginTOTP(t.Context(), ada, password, "Countersign addon")
		must.Do(t, err)
		u, err := url.Parse(begun.URI)
		if err != nil || u.Scheme != "otpauth" || u.Host != "totp" || u.Query().Get("secret") != begun.Secret || u.Query().Get("issuer") != "Countersign addon" || !strings.Contains(u.Path, email) {
			t.Errorf("URI %s, %v", begun.URI, err)
		}
		if in, err := f.SignIn(t.Context(), home, email, password); err != nil || in.NeedsCode {
			t.Errorf("before the first code: %+v, %v", in, err)
		}
		_, _, err = f.ConfirmTOTP(t.Context(), ada, 0, wrongCode(f.code(t, begun.Secret)))
		wantCode(t, err, "code_refused")

		newer, err := f.BeginTOTP(t.Context(), ada, password, "Countersign addon") // replaces the one before
		if err != nil || newer.Secret == begun.Secret {
			t.Fatalf("%v", err)
		}
		_, recovery, err := f.ConfirmTOTP(t.Context(), ada, 0, f.code(t, newer.Secret))
		if err != nil || len(recovery) != 10 {
			t.Fatalf("%q, %v", recovery, err)
		}
		for _, code := range recovery {
			if !regexp.MustCompile(`^([0-9a-z]{4}-){3}[0-9a-z]{4}$`).MatchString(code) {
				t.Errorf("recovery code %q", code)
			}
		}
		in, err := f.SignIn(t.Context(), home, email, password)
		if err != nil || !in.NeedsCode || !in.User.TOTP || in.User.RecoveryCodes != 10 {
			t.Errorf("after the first code: %+v, %v", in, err)
		}
		if !in.User.SignedInAt.Equal(f.clock.Now()) {
			t.Errorf("signed in at %v", in.User.SignedInAt) // by the sign-in without a code
		}
		_, err = f.BeginTOTP(t.Context(), ada, password, "Countersign addon")
		wantCode(t, err, "totp_on")
		if lines, err := f.Audit(t.Context(), ada, AuditFilter{Action: "totp.enable"}); err != nil || len(lines) != 1 || lines[0].Before != "off" || lines[0].After != "on" {
			t.Errorf("audit %+v, %v", lines, err)
		}
	})
}

// wrongCode is a code of six digits that differs.
func wrongCode(code string) string {
	return string('0'+(code[0]-'0'+1)%10) + code[1:]
}

func TestCodesOfTheAuthenticator(t *testing.T) {
	spaced := func(code string) string { return " " + code[:3] + " " + code[3:] }
	same := func(code string) string { return code }
	tests := []struct {
		rule    string
		periods int
		typed   func(string) string
		code    string
	}{
		{"the present one is good", 0, same, ""},
		{"the one before is good, for a clock that is late", -1, same, ""},
		{"the next one is good, for a clock that is early", 1, same, ""},
		{"one from two periods ago is refused", -2, same, "code_refused"},
		{"one from two periods ahead is refused", 2, same, "code_refused"},
		{"spaces don't matter", 0, spaced, ""},
		{"another one is refused", 0, wrongCode, "code_refused"},
		{"five digits are refused", 0, func(c string) string { return c[:5] }, "code_refused"},
		{"nothing is refused", 0, func(string) string { return "" }, "code_refused"},
		{"NUL is refused", 0, func(string) string { return "\x00\x00\x00\x00\x00\xff" }, "code_refused"},
	}
	engines(t, func(t *testing.T, f *fixture) {
		u, ada := f.administrator(t)
		secret, _ := f.enableTOTP(t, ada, password)
		for _, tt := range tests {
			f.clock.Move(limitWindow) // each starts anew
			err := f.SignInCode(t.Context(), home, u.ID, tt.typed(f.codeAt(t, secret, tt.periods)))
			expect.Equalf(t, codeOf(err), tt.code, "%s: %v", tt.rule, err)
		}
	})
}

func TestTwoStepSignInBeginsWithThePassword(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		u, ada := f.administrator(t)
		for range againFailures {
			_, err := f.BeginTOTP(t.Context(), ada, other, "Countersign addon")
			wantCode(t, err, "password_wrong")
		}
		_, err := f.BeginTOTP(t.Context(), ada, password, "Countersign addon")
		wantCode(t, err, "rate_limited")
		if row, err := f.db.User(t.Context(), u.ID); err != nil || row.TOTPPending != nil {
			t.Errorf("a secret was kept: %v", err)
		}
	})
}

func TestCodeIsGoodForOneUse(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		u, ada := f.administrator(t)
		begun := must.Get(f.BeginTOTP(t.Context(), ada, password, "Countersign addon"))(t)
		first := f.code(t, begun.Secret)
		if _, _, err := f.ConfirmTOTP(t.Context(), ada, 0, first); err != nil {
			t.Fatal(err)
		}
		wantCode(t, f.SignInCode(t.Context(), home, u.ID, first), "code_refused")

		f.clock.Move(30 * time.Second)
		next := f.code(t, begun.Secret)
		both := []*fixture{f, f.second(t)}
		counts := atOnce(4, func(i int) error { return both[i%2].SignInCode(t.Context(), home, u.ID, next) })
		if counts[""] != 1 || counts["code_refused"] != 3 {
			t.Errorf("many at once: %v, want one", counts)
		}
		wantCode(t, f.SignInCode(t.Context(), home, u.ID, f.codeAt(t, begun.Secret, -1)), "code_refused")
		if lines, err := f.Audit(t.Context(), ada, AuditFilter{Action: "user.sign_in"}); err != nil || len(lines) != 1 || lines[0].Detail != "by password and code" {
			t.Errorf("audit %+v, %v", lines, err)
		}
	})
}

func TestRecoveryCodeIsGoodForOneUse(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		u, ada := f.administrator(t)
		_, recovery := f.enableTOTP(t, ada, password)
		both := []*fixture{f, f.second(t)}
		counts := atOnce(4, func(i int) error { return both[i%2].SignInCode(t.Context(), home, u.ID, recovery[0]) })
		if counts[""] != 1 || counts["code_refused"] != 3 {
			t.Errorf("many at once: %v, want one", counts)
		}
		typed := " " + strings.ToUpper(strings.ReplaceAll(recovery[1], "-", " "))
		wantCode(t, f.SignInCode(t.Context(), home, u.ID, typed), "")
		if list, err := f.Users(t.Context(), ada); err != nil || list[0].RecoveryCodes != 8 {
			t.Errorf("%+v, %v", list, err)
		}
		_, err := f.NewRecoveryCodes(t.Context(), ada, other)
		wantCode(t, err, "password_wrong")
		fresh, err := f.NewRecoveryCodes(t.Context(), ada, password)
		if err != nil || len(fresh) != 10 {
			t.Fatalf("%q, %v", fresh, err)
		}
		f.clock.Move(limitWindow)
		wantCode(t, f.SignInCode(t.Context(), home, u.ID, recovery[2]), "code_refused") // replaced
		wantCode(t, f.SignInCode(t.Context(), home, u.ID, fresh[0]), "")
	})
}

func TestCodesAreLimitedByUser(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		u, ada := f.administrator(t)
		secret, _ := f.enableTOTP(t, ada, password)
		for range codeFailures {
			wantCode(t, f.SignInCode(t.Context(), away, u.ID, wrongCode(f.code(t, secret))), "code_refused")
		}
		wantCode(t, f.SignInCode(t.Context(), home, u.ID, f.code(t, secret)), "rate_limited")
		lines, err := f.Audit(t.Context(), ada, AuditFilter{Action: "user.refuse_code"})
		if err != nil || len(lines) != codeFailures || lines[0].Address != "198.51.100.9" {
			t.Errorf("audit %+v, %v", lines, err)
		}
		f.clock.Move(limitWindow)
		wantCode(t, f.SignInCode(t.Context(), home, u.ID, f.code(t, secret)), "")
	})
}

func TestUserWithoutTwoStepSignInHasNoCode(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		u, ada := f.administrator(t)
		for _, id := range []int64{u.ID, u.ID + 1, 0, -1} {
			wantCode(t, f.SignInCode(t.Context(), home, id, "000000"), "code_refused")
		}
		wantCode(t, f.disableTOTP(t, ada, password), "totp_off")
		_, err := f.NewRecoveryCodes(t.Context(), ada, password)
		wantCode(t, err, "totp_off")
	})
}

func (f *fixture) disableTOTP(t *testing.T, a Actor, password string) error {
	t.Helper()
	_, err := f.DisableTOTP(t.Context(), a, 0, password)
	return err
}

func TestDisableTOTPTakesThePassword(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		u, ada := f.administrator(t)
		_, recovery := f.enableTOTP(t, ada, password)
		wantCode(t, f.disableTOTP(t, ada, other), "password_wrong")
		wantCode(t, f.disableTOTP(t, ada, password), "")
		if in, err := f.SignIn(t.Context(), home, email, password); err != nil || in.NeedsCode || in.User.RecoveryCodes != 0 {
			t.Errorf("%+v, %v", in, err)
		}
		wantCode(t, f.SignInCode(t.Context(), home, u.ID, recovery[0]), "code_refused")
	})
}

func TestSecretOfAnotherKeyFileLeavesTheRecoveryCodes(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		u, ada := f.administrator(t)
		secret, recovery := f.enableTOTP(t, ada, password)
		box := must.Get(keyfile.Create(t.TempDir()))(t)
		f.keyFile = box
		wantCode(t, f.SignInCode(t.Context(), home, u.ID, f.code(t, secret)), "totp_unreadable")
		wantCode(t, f.SignInCode(t.Context(), home, u.ID, recovery[0]), "")
	})
}

func TestTwoStepSignInWaitsForTheKeyFile(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		_, ada := f.administrator(t)
		f.keyFile = nil
		_, err := f.BeginTOTP(t.Context(), ada, password, "Countersign addon")
		wantCode(t, err, "unavailable")
	})
}

func TestTurningTwoStepSignInOnOrOffEndsTheOtherSessions(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		u, ada := f.administrator(t)
		keep := f.session(t, "this browser", u)
		f.session(t, "another browser", u)
		from := f.known(u)
		begun := must.Get(f.BeginTOTP(t.Context(), ada, password, "Countersign addon"))(t)
		on, _, err := f.ConfirmTOTP(t.Context(), ada, keep, f.code(t, begun.Secret))
		if err != nil || !on.TOTP || on.Generation != u.Generation+1 || on.RecoveryCodes != recoveryCodes {
			t.Fatalf("%+v, %v", on, err)
		}
		if !f.alive(t, "this browser") || f.alive(t, "another browser") {
			t.Error("turned on: the wrong session goes on")
		}
		if key, err := f.knownAs(t.Context(), from, func(peopledb.User) bool { return true }); key != "" || err != nil {
			t.Errorf("the browsers of before are known still: %q, %v", key, err)
		}
		f.session(t, "a third browser", on)
		off, err := f.DisableTOTP(t.Context(), ada, keep, password)
		if err != nil || off.TOTP || off.Generation != on.Generation+1 || off.RecoveryCodes != 0 {
			t.Fatalf("%+v, %v", off, err)
		}
		if !f.alive(t, "this browser") || f.alive(t, "a third browser") {
			t.Error("turned off: the wrong session goes on")
		}
		lines, err := f.Audit(t.Context(), ada, AuditFilter{Action: "totp"})
		if err != nil || len(lines) != 2 || lines[0].Detail != "1 session ended" || lines[1].Detail != "1 session ended" {
			t.Errorf("audit %+v, %v", lines, err)
		}
	})
}
