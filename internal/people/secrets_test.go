package people

import (
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/must"
)

// Whoever reads the database, a backup of it or the log finds nothing to sign in
// with.
func TestNoSecretIsInTheDatabaseOrTheLogInClear(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		setup := f.setupLink(t)
		u := must.Get(f.Setup(t.Context(), home, setup, email, password))(t)
		ada := u.Actor(home)
		unused, _, err := f.NewSignInLink(t.Context(), operator, u.Email)
		must.Do(t, err)
		session := "a session's token, as the cookie has it"
		keep := f.session(t, session, u)
		must.Get(f.ChangePassword(t.Context(), ada, keep, password, other))(t)
		secret, recovery := f.enableTOTP(t, ada, other)
		session2 := "another session's token"
		f.session(t, session2, f.user(t))
		must.Do(t, f.SignInCode(t.Context(), home, u.ID, recovery[0]))
		code := f.code(t, secret)
		must.Do(t, f.SignInCode(t.Context(), home, u.ID, code))
		f.clock.Move(time.Minute)
		guess := "a guess of the password"
		for range 2 { // as a password, and typed into the wrong field
			_, err := f.SignIn(t.Context(), away, email, guess)
			wantCode(t, err, "sign_in_refused")
			_, err = f.SignIn(t.Context(), away, guess, "")
			wantCode(t, err, "sign_in_refused")
		}
		f.Close(t.Context()) // writes the failed sign-ins
		secrets := map[string]string{
			"the set-up token": setup, "the sign-in token": unused, "the old password": password, "the password": other,
			"the session's token": session, "the later session's token": session2, "the TOTP secret": secret, "a guess": guess,
		}
		for _, code := range recovery {
			secrets["recovery code "+code] = code
			secrets["folded recovery code "+code] = strings.ReplaceAll(code, "-", "")
		}
		content := f.content(t)
		if !holds(content, email) || !holds(content, frontEndData) {
			t.Fatal("what is searched is not the database")
		}
		for name, text := range secrets {
			if holds(content, text) {
				t.Errorf("%s is in the database", name)
			}
			if strings.Contains(f.log.String(), text) {
				t.Errorf("%s is in the log", name)
			}
		}
	})
}
