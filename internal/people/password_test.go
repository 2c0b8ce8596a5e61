package people

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
)

func TestPasswordRules(t *testing.T) {
	tests := []struct {
		rule, password, code string
	}{
		{"four words are good", "four quiet green words", ""},
		{"12 characters are enough", "kx7-Qmz0-pTl", ""},
		{"11 characters are too few", "kx7-Qmz0-pT", "password_short"},
		{"characters count, not bytes", "éàüöäßñçøåèê", ""},
		{"11 characters of two bytes are too few", "éàüöäßñçøåè", "password_short"},
		{"128 characters are good", strings.Repeat("kx7-Qmz0", 16), ""},
		{"129 characters are too many", strings.Repeat("kx7-Qmz0", 16) + "k", "password_long"},
		{"nothing is too short", "", "password_short"},
		{"the e-mail is refused", "ada.lovelace@site-of-ada.example", "password_email"},
		{"the e-mail in upper case is refused", "ADA.Lovelace@site-of-ada.example", "password_email"},
		{"the name in the e-mail is refused", "ada.lovelace", "password_email"},
		{"the domain of the e-mail is refused", "site-of-ada.example", "password_email"},
		{"what is guessed first is refused", "password1234", "password_common"},
		{"in any letter case", "QwertyUIOP123", "password_common"},
		{"digits in a row are refused", "123456789012", "password_common"},
		{"one character over and over is refused", strings.Repeat("z", 20), "password_common"},
		{"and so it is in two letter cases", strings.Repeat("zZ", 10), "password_common"},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			wantCode(t, checkPassword("ada.lovelace@site-of-ada.example", tt.password), tt.code)
		})
	}
}

func TestCommonPasswordsAreWrittenAsTheyAreCompared(t *testing.T) {
	for line := range strings.Lines(commonPasswords) {
		entry := strings.TrimSuffix(line, "\n")
		if entry != strings.ToLower(strings.TrimSpace(entry)) || len(entry) < minPassword {
			t.Errorf("the entry %q is never met", entry)
		}
	}
}

func TestHashesAreArgon2idWithTheirCost(t *testing.T) {
	h := newHashes(HashCost{})
	one := must.Get(h.make(t.Context(), wholeQueue, password))(t)
	two := must.Get(h.make(t.Context(), wholeQueue, password))(t)
	if !strings.HasPrefix(one, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("the hash begins %.40s", one)
	}
	if one == two {
		t.Error("two hashes of one password are the same: they need salts of their own")
	}
	for _, tt := range []struct {
		rule, hash, password string
		want                 bool
	}{
		{"the password matches", one, password, true},
		{"another does not", one, other, false},
		{"the empty one does not", one, "", false},
		{"nothing matches nobody", h.nobodys(), "", false},
		{"no password matches nobody", h.nobodys(), password, false},
		{"other costs are understood", "$argon2id$v=19$m=64,t=1,p=1$c2FsdHNhbHQ$3VnAhLS+KIslCLqbfDbIw2OB7HJBl+3TdRTWPUZ/1Bg", password, false},
	} {
		if got, err := h.matches(t.Context(), wholeQueue, tt.hash, tt.password); err != nil || got != tt.want {
			t.Errorf("%s: %v, %v", tt.rule, got, err)
		}
	}
	for _, broken := range []string{"", "$", "secret", "$argon2i$v=19$m=64,t=1,p=1$c2FsdA$c2FsdA", "$argon2id$v=18$m=64,t=1,p=1$c2FsdA$c2FsdA", "$argon2id$v=19$m=64,t=1,p=1$c2FsdA$", "$argon2id$v=19$m=64,t=1,p=1$!$!"} {
		if got, err := h.matches(t.Context(), wholeQueue, broken, password); err == nil || got {
			t.Errorf("%q is taken for a hash", broken)
		}
	}
}

// The costly part is the hash; nobody's has the same parameters and is reached in
// the same way.
func TestUnknownEmailCostsAsMuchAsAWrongPassword(t *testing.T) {
	real := must.Get(newHashes(HashCost{}).make(t.Context(), wholeQueue, password))(t)
	last := strings.LastIndex
	nobodysHash := newHashes(HashCost{}).nobodys()
	if got, want := nobodysHash[:strings.Index(nobodysHash, "p=1$")], real[:strings.Index(real, "p=1$")]; got != want ||
		last(nobodysHash, "$") != last(real, "$") || len(nobodysHash) != len(real) {
		t.Errorf("nobody's hash %q differs in its parameters from %q", nobodysHash, real)
	}
	engines(t, func(t *testing.T, f *fixture) {
		f.administrator(t)
		f.hashes.slots = make(chan struct{}) // entered and left only with the test
		for _, who := range []string{email, "bob@site.example", "no e-mail"} {
			done := make(chan error)
			go func() {
				_, err := f.SignIn(t.Context(), home, who, other)
				done <- err
			}()
			select {
			case err := <-done:
				t.Errorf("%s: answered without a hash: %v", who, err)
				continue
			case <-f.hashes.slots:
			}
			f.hashes.slots <- struct{}{}
			wantCode(t, <-done, "sign_in_refused")
		}
	})
}

func TestCheckPasswordAgain(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		_, ada := f.administrator(t)
		wantCode(t, f.CheckPassword(t.Context(), ada, password), "")
		wantCode(t, f.CheckPassword(t.Context(), operator, password), "not_allowed")
		for range againFailures {
			wantCode(t, f.CheckPassword(t.Context(), ada, other), "password_wrong")
		}
		wantCode(t, f.CheckPassword(t.Context(), ada, password), "rate_limited")
		if _, err := f.SignIn(t.Context(), home, email, password); err != nil {
			t.Errorf("a stolen session locks its owner out: %v", err)
		}
		f.clock.Move(limitWindow)
		wantCode(t, f.CheckPassword(t.Context(), ada, password), "")
	})
}

func TestChangePassword(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		u, ada := f.administrator(t)
		keep := f.session(t, "kept", u)
		f.session(t, "elsewhere", u)
		for _, tt := range []struct{ rule, old, new, code string }{
			{"the old one must be right", other, "six more quiet green words", "password_wrong"},
			{"the new one must be another one", password, password, "password_same"},
			{"the new one must be long", password, "short", "password_short"},
			{"the new one must not be the e-mail", password, email, "password_email"},
		} {
			_, err := f.ChangePassword(t.Context(), ada, keep, tt.old, tt.new)
			expect.Equalf(t, codeOf(err), tt.code, "%s: %v", tt.rule, err)
		}
		_, err := f.ChangePassword(t.Context(), ada, keep, other, "short")
		if said := fault.Of(err); said == nil || said.Code != "password_wrong" || said.Fields["old"] == "" || said.Fields["new"] == "" {
			t.Errorf("a wrong old one and a short new one: %v", err)
		}
		if !f.alive(t, "elsewhere") {
			t.Error("a change that was refused has ended a session")
		}
		f.clock.Move(1)
		changed, err := f.ChangePassword(t.Context(), ada, keep, password, other)
		if err != nil || changed.Generation != u.Generation+1 {
			t.Fatalf("%+v, %v", changed, err)
		}
		if !f.alive(t, "kept") || f.alive(t, "elsewhere") {
			t.Errorf("kept %v, elsewhere %v; want the first alone", f.alive(t, "kept"), f.alive(t, "elsewhere"))
		}
		_, err = f.SignIn(t.Context(), home, email, password)
		wantCode(t, err, "sign_in_refused")
		_, err = f.SignIn(t.Context(), home, email, other)
		wantCode(t, err, "")
		if lines, err := f.Audit(t.Context(), ada, AuditFilter{Action: "password.change"}); err != nil || len(lines) != 1 || lines[0].Detail != "1 session ended" || lines[0].Actor != email || lines[0].Address != "192.0.2.7" || lines[0].FrontEnd != FrontEndPage {
			t.Errorf("audit %+v, %v", lines, err)
		}
	})
}

// Somebody who knew the old password and is just about to begin a session comes
// too late.
func TestSessionThatIsSavedAfterThePasswordWasChangedIsNone(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		u, ada := f.administrator(t)
		in := must.Get(f.SignIn(t.Context(), away, email, password))(t)
		must.Get(f.ChangePassword(t.Context(), ada, f.session(t, "kept", u), password, other))(t)
		err := f.SaveSession(t.Context(), "late", SavedSession{User: in.User.ID, Generation: in.User.Generation, Expires: f.clock.Now().Add(1e12)})
		if err != nil || f.alive(t, "late") {
			t.Errorf("alive %v, %v", f.alive(t, "late"), err)
		}
		if list, err := f.Sessions(t.Context(), ada); err != nil || len(list) != 1 {
			t.Errorf("sessions %+v, %v", list, err)
		}
	})
}

func TestPasswordsChangedAtOnceLeaveOne(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		_, ada := f.administrator(t)
		both := []*fixture{f, f.second(t)}
		counts := atOnce(4, func(i int) error {
			_, err := both[i%2].ChangePassword(t.Context(), ada, 0, password, "quiet green words "+strings.Repeat("!", i+1))
			return err
		})
		if counts[""] != 1 || counts["password_wrong"] != 3 {
			t.Errorf("outcomes %v, want one change", counts)
		}
	})
}
