package people

import (
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people/peopledb"
)

func TestEmailsAreFoldedAndChecked(t *testing.T) {
	tests := []struct {
		rule, in, want string
	}{
		{"lower case stays", "ada@site.example", "ada@site.example"},
		{"upper case is folded", "Ada@Site.EXAMPLE", "ada@site.example"},
		{"spaces around it go", "  ada@site.example\n", "ada@site.example"},
		{"letters of other scripts", "Ärger@münchen.example", "ärger@xn--mnchen-3ya.example"},
		{"the same letters, composed of two", "A\u0308rger@mu\u0308nchen.example", "ärger@xn--mnchen-3ya.example"},
		{"the domain in ASCII is the same one", "ärger@XN--mnchen-3ya.example", "ärger@xn--mnchen-3ya.example"},
		{"wide letters are the usual ones", "\uff41da\uff20site.example", "ada@site.example"},
		{"one other script", "ада@site.example", "ада@site.example"},
		{"scripts that are written together", "ada漢かカ@site.example", "ada漢かカ@site.example"},
		{"a letter of another script is refused", "\u0430da@site.example", ""},
		{"also in the domain", "ada@\u0430pple.example", ""},
		{"a mark that nobody sees is refused", "ada\ufe0f@site.example", ""},
		{"also one that joins letters", "ada\u034f@site.example", ""},
		{"and a letter", "ada\u3164@site.example", ""},
		{"a dot behind the domain is refused", "ada@site.example.", ""},
		{"also a wide one", "ada@site.example\u3002", ""},
		{"nothing is refused", "", ""},
		{"a name alone is refused", "ada", ""},
		{"nothing before the sign is refused", "@site.example", ""},
		{"nothing after the sign is refused", "ada@", ""},
		{"two signs are refused", "ada@home@site.example", ""},
		{"a space within is refused", "ada l@site.example", ""},
		{"NUL is refused", "ada\x00@site.example", ""},
		{"invalid UTF-8 is refused", "ada\xff@site.example", ""},
		{"254 bytes are enough", strings.Repeat("a", 241) + "@site.example", strings.Repeat("a", 241) + "@site.example"},
		{"255 bytes are too many", strings.Repeat("a", 242) + "@site.example", ""},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			got, err := CleanEmail(tt.in)
			if got != tt.want || codeOf(err) != map[bool]string{true: "email_invalid"}[tt.want == ""] {
				t.Errorf("%q gives %q, %v", tt.in, got, err)
			}
		})
	}
}

func TestCreateAdministrator(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		if has, err := f.HasAdministrator(t.Context()); err != nil || has {
			t.Errorf("before: %v, %v", has, err)
		}
		tests := []struct {
			rule, email, password, code string
		}{
			{"an e-mail that is none is refused", "ada", password, "email_invalid"},
			{"a short password is refused", email, "short", "password_short"},
			{"a good pair is taken", " Ada@Site.example", password, ""},
			{"an e-mail is taken once, in any letter case", "ADA@site.example", other, "email_taken"},
			{"a second administrator may be made", "bob@site.example", other, ""},
		}
		for _, tt := range tests {
			u, err := f.CreateAdministrator(t.Context(), operator, tt.email, tt.password)
			expect.Equalf(t, codeOf(err), tt.code, "%s: %v", tt.rule, err)
			if err == nil && (u.ID == 0 || !u.CreatedAt.Equal(f.clock.Now()) || u.TOTP || !u.SignedInAt.IsZero()) {
				t.Errorf("%s: %+v", tt.rule, u)
			}
		}
		if has, err := f.HasAdministrator(t.Context()); err != nil || !has {
			t.Errorf("after: %v, %v", has, err)
		}
		list, err := f.Users(t.Context(), operator)
		if err != nil || len(list) != 2 || list[0].Email != "ada@site.example" || list[1].Email != "bob@site.example" {
			t.Errorf("users %+v, %v", list, err)
		}
		if got, want := f.actions(t), []string{"user.create ada@site.example", "user.create bob@site.example"}; !slices.Equal(got, want) {
			t.Errorf("audit %q, want %q", got, want)
		}
	})
}

func TestFirstAdministratorsAtOnceAreOne(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		token, _, err := f.NewSetupLink(t.Context(), operator)
		must.Do(t, err)
		both := []*fixture{f, f.second(t)}
		atOnce(6, func(i int) error {
			_, err := both[i%2].Setup(t.Context(), home, token, string(rune('a'+i))+"@site.example", password)
			return err
		})
		firsts := 0
		rows, err := f.db.Users(t.Context())
		for _, u := range rows {
			if u.First {
				firsts++
			}
		}
		if err != nil || len(rows) != 1 || firsts != 1 {
			t.Errorf("%d users, of whom %d are the first; %v", len(rows), firsts, err)
		}
	})
}

func TestResetPasswordByTheOperator(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		_, ada := f.administrator(t)
		f.enableTOTP(t, ada, password)
		u := f.user(t)
		f.session(t, "one", u)
		f.session(t, "two", u)

		wantCode(t, f.ResetPassword(t.Context(), ada, email, other, false), "not_allowed")
		wantCode(t, f.ResetPassword(t.Context(), operator, "bob@site.example", other, false), "user_not_found")
		wantCode(t, f.ResetPassword(t.Context(), operator, email, "short", false), "password_short")
		if !f.alive(t, "one") {
			t.Error("a reset that was refused has ended a session")
		}

		wantCode(t, f.ResetPassword(t.Context(), operator, "ADA@site.example", other, false), "")
		if f.alive(t, "one") || f.alive(t, "two") {
			t.Error("a session outlived the reset")
		}
		_, err := f.SignIn(t.Context(), home, email, password)
		wantCode(t, err, "sign_in_refused")
		if in, err := f.SignIn(t.Context(), home, email, other); err != nil || !in.NeedsCode {
			t.Errorf("two-step sign-in does not stay by itself: %+v, %v", in, err)
		}

		wantCode(t, f.ResetPassword(t.Context(), operator, email, password, true), "")
		if in, err := f.SignIn(t.Context(), home, email, password); err != nil || in.NeedsCode || in.User.RecoveryCodes != 0 {
			t.Errorf("two-step sign-in stays although it was to be removed: %+v, %v", in, err)
		}
		lines, err := f.Audit(t.Context(), operator, AuditFilter{Action: "password.reset"})
		if err != nil || len(lines) != 2 || lines[0].Detail != "0 sessions ended; two-step sign-in removed" || lines[1].Detail != "2 sessions ended" || lines[0].Kind != KindOperator {
			t.Errorf("audit %+v, %v", lines, err)
		}
	})
}

func TestUsersOfOlderVersionsKeepTheirEmails(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.administrator(t)
		hash := must.Get(f.hashes.make(t.Context(), wholeQueue, password))(t)
		for _, kept := range []string{"eve@münchen.example", "\u0430da@site.example"} {
			must.Do(t, f.db.Tx(t.Context(), func(tx *peopledb.DB) error {
				_, err := tx.AddUser(t.Context(), peopledb.User{Email: kept, Password: hash, Generation: 1, CreatedAt: f.stamp(), PasswordAt: f.stamp(), Administrator: true})
				return err
			}))
			if in, err := f.SignIn(t.Context(), home, strings.ToUpper(kept), password); err != nil || in.User.Email != kept {
				t.Errorf("%s: %+v, %v", kept, in, err)
			}
			if _, _, err := f.NewSignInLink(t.Context(), operator, kept); err != nil {
				t.Errorf("%s: %v", kept, err)
			}
			wantCode(t, f.ResetPassword(t.Context(), operator, kept, password, false), "")
		}
		_, err := f.CreateAdministrator(t.Context(), operator, "eve@xn--mnchen-3ya.example", password)
		wantCode(t, err, "email_taken")
		_, err = f.RenameUser(t.Context(), operator, 1, "eve@xn--mnchen-3ya.example")
		wantCode(t, err, "email_taken")
	})
}
