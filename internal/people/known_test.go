package people

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/must"
)

// stranger is an address of its own for each number.
func stranger(i int) Origin {
	return Origin{Addr: netip.AddrFrom4([4]byte{203, 0, byte(113 + i/256), byte(i)})}
}

// lockOut lets three addresses fail ten times each, as often as they may.
func (f *fixture) lockOut(t *testing.T) {
	t.Helper()
	for i := range emailFailures {
		if _, err := f.SignIn(t.Context(), stranger(i%3), email, other); codeOf(err) != "sign_in_refused" {
			t.Fatal(err)
		}
	}
	_, err := f.SignIn(t.Context(), home, email, password)
	wantCode(t, err, "rate_limited") // a browser that is not known
}

// known is home in a browser in which a user has signed in.
func (f *fixture) known(u User) Origin {
	from := home
	from.Known = f.RememberBrowser(u, "")
	return from
}

func TestStrangersDoNotLockOutABrowserThatHasSignedInBefore(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		u, ada := f.administrator(t)
		from := f.known(u)
		f.lockOut(t)
		if in, err := f.SignIn(t.Context(), from, " ADA@site.example", password); err != nil || in.User.ID != u.ID {
			t.Errorf("%+v, %v", in, err)
		}
		for range addressFailures { // of the same address
			_, _ = f.SignIn(t.Context(), home, "bob@site.example", password)
		}
		if _, err := f.SignIn(t.Context(), from, email, password); err != nil {
			t.Errorf("when its address is locked out: %v", err)
		}

		secret, _ := f.enableTOTP(t, ada, password)
		from = f.known(f.user(t))
		for range codeFailures {
			wantCode(t, f.SignInCode(t.Context(), away, u.ID, "000000"), "code_refused")
		}
		wantCode(t, f.SignInCode(t.Context(), home, u.ID, f.code(t, secret)), "rate_limited")
		wantCode(t, f.SignInCode(t.Context(), from, u.ID, f.code(t, secret)), "")
	})
}

// user is the administrator as it is now.
func (f *fixture) user(t *testing.T) User {
	t.Helper()
	all, err := f.Users(t.Context(), operator)
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	return all[0]
}

func TestKnownBrowserHasFewAttempts(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		u, ada := f.administrator(t)
		from := f.known(u)
		for i := range knownFailures {
			from.Addr = stranger(i).Addr // a stolen cookie travels
			_, err := f.SignIn(t.Context(), from, email, other)
			wantCode(t, err, "sign_in_refused")
		}
		_, err := f.SignIn(t.Context(), from, email, password)
		wantCode(t, err, "rate_limited")
		from.Known += "~" + from.Known
		_, err = f.SignIn(t.Context(), from, email, password)
		wantCode(t, err, "rate_limited")
		if _, err := f.SignIn(t.Context(), home, email, password); err != nil {
			t.Errorf("its failures count against others: %v", err)
		}

		f.enableTOTP(t, ada, password)
		from = f.known(f.user(t))
		for range codeFailures {
			wantCode(t, f.SignInCode(t.Context(), from, u.ID, "000000"), "code_refused")
		}
		wantCode(t, f.SignInCode(t.Context(), from, u.ID, "000000"), "rate_limited")
	})
}

func TestWhatMakesABrowserKnown(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		u, ada := f.administrator(t)
		bob := must.Get(f.CreateAdministrator(t.Context(), operator, "bob@site.example", password))(t)
		cookie := f.RememberBrowser(u, "")
		parts := strings.Split(cookie, ".")
		other1 := must.Get(keyfile.Create(t.TempDir()))(t)
		tests := []struct {
			rule, known string
			limited     bool
		}{
			{"its own cookie does", cookie, false},
			{"with another user's before it", f.RememberBrowser(bob, cookie), false},
			{"nothing does not", "", true},
			{"another user's cookie does not", f.RememberBrowser(bob, ""), true},
			{"another user's number in it does not", "2." + strings.Join(parts[1:], "."), true},
			{"another nonce does not", strings.Join(append([]string{parts[0], parts[1], parts[2], "AAAA"}, parts[4]), "."), true},
			{"a later expiry does not", strings.Join([]string{parts[0], parts[1], "99999999999", parts[3], parts[4]}, "."), true},
			{"one without a MAC does not", strings.Join(parts[:4], "."), true},
			{"one of another key file does not", knownBrowser{u.ID, u.Generation, f.clock.Now().Add(time.Hour).Unix(), "A"}.signed(other1), true},
			{"one behind many others does not", strings.Repeat("x~", knownUsers) + cookie, true},
			{"nonsense does not", "\x00~..~1.2.3.4.5~" + strings.Repeat("~", 5000), true},
		}
		f.lockOut(t)
		for _, tt := range tests {
			from := home
			from.Known = tt.known
			if _, err := f.SignIn(t.Context(), from, email, password); (codeOf(err) == "rate_limited") != tt.limited {
				t.Errorf("%s: %v", tt.rule, err)
			}
		}

		from := home
		from.Known = cookie
		after := must.Get(f.ChangePassword(t.Context(), ada, 0, password, other))(t)
		_, err := f.SignIn(t.Context(), from, email, other)
		wantCode(t, err, "rate_limited") // a new password ends it
		from.Known = f.RememberBrowser(after, from.Known)
		if _, err = f.SignIn(t.Context(), from, email, other); err != nil {
			t.Error(err)
		}
		f.clock.Move(KnownLife)
		f.lockOut2(t)
		_, err = f.SignIn(t.Context(), from, email, other)
		wantCode(t, err, "rate_limited") // and so does a year
	})
}

// lockOut2 is lockOut once more, with a password that was never right.
func (f *fixture) lockOut2(t *testing.T) {
	t.Helper()
	for i := range emailFailures {
		_, err := f.SignIn(t.Context(), stranger(i%3), email, "never the right words")
		wantCode(t, err, "sign_in_refused")
	}
}

func TestBrowserRemembersAFewUsers(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		u, _ := f.administrator(t)
		kept := ""
		for i := range int64(knownUsers + 3) {
			kept = f.RememberBrowser(User{ID: u.ID + i, Generation: 1}, kept)
		}
		kept = f.RememberBrowser(User{ID: u.ID + knownUsers + 2, Generation: 2}, kept)
		all := f.knownTo(f.keyFile, kept)
		if len(all) != knownUsers || all[0].user != u.ID+knownUsers+2 || all[0].generation != 2 || all[1].user != u.ID+knownUsers+1 {
			t.Errorf("%+v", all)
		}
		if len(kept) > 1000 {
			t.Errorf("%d bytes of cookie", len(kept))
		}
		f.keyFile = nil
		expect.Equalf(t, f.RememberBrowser(u, kept), "", "without a key file it keeps")
	})
}

func TestSignInLinkWorksPastAnyLimit(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		u, _ := f.administrator(t)
		f.lockOut(t)
		for i := range addressFailures {
			_, _ = f.SignIn(t.Context(), home, string(rune('a'+i))+"@site.example", password)
		}
		token, _, err := f.NewSignInLink(t.Context(), operator, email)
		must.Do(t, err)
		if got, err := f.SignInByLink(t.Context(), home, token); err != nil || got.ID != u.ID {
			t.Errorf("%+v, %v", got, err)
		}
	})
}
