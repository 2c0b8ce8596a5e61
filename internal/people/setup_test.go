package people

import (
	"slices"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/must"
)

// setupLink creates a set-up link.
func (f *fixture) setupLink(t *testing.T) string {
	t.Helper()
	token, expires, err := f.NewSetupLink(t.Context(), operator)
	if err != nil || !expires.Equal(f.clock.Now().Add(24*time.Hour)) || len(token) < 26 {
		t.Fatalf("%q until %v, %v", token, expires, err)
	}
	return token
}

func TestSetupLinkIsGoodOnceFor24Hours(t *testing.T) {
	t.Parallel()
	tests := []struct {
		rule   string
		before func(t *testing.T, f *fixture, token string)
		given  func(token string) string
		code   string
	}{
		{rule: "a fresh one is good"},
		{rule: "a second before its end it is good", before: func(_ *testing.T, f *fixture, _ string) { f.clock.Move(24*time.Hour - time.Second) }},
		{rule: "after 24 hours it has expired", before: func(_ *testing.T, f *fixture, _ string) { f.clock.Move(24 * time.Hour) }, code: "link_expired"},
		{rule: "a newer one ends it", before: func(t *testing.T, f *fixture, _ string) { f.setupLink(t) }, code: "link_unknown"},
		{rule: "after an administrator was made it is over", before: func(t *testing.T, f *fixture, _ string) { f.administrator(t) }, code: "already_set_up"},
		{rule: "nothing is no token", given: func(string) string { return "" }, code: "link_unknown"},
		{rule: "another text is no token", given: func(token string) string { return token[1:] + "A" }, code: "link_unknown"},
		{rule: "NUL is no token", given: func(string) string { return "\x00\xff" }, code: "link_unknown"},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			engines(t, func(t *testing.T, f *fixture) {
				token := f.setupLink(t)
				if tt.before != nil {
					tt.before(t, f, token)
				}
				if tt.given != nil {
					token = tt.given(token)
				}
				before := must.Get(f.db.CountAdministrators(t.Context()))(t)
				wantCode(t, f.CheckSetupLink(t.Context(), token), tt.code)
				u, err := f.Setup(t.Context(), home, token, "carol@site.example", password)
				wantCode(t, err, tt.code)
				after, err := f.db.CountAdministrators(t.Context())
				if err != nil || (tt.code == "") != (after == before+1) || (tt.code == "") != (u.ID != 0) || (tt.code == "") != u.SignedInAt.Equal(f.clock.Now()) {
					t.Errorf("%d users before and %d after, %+v, %v", before, after, u, err)
				}
			})
		})
	}
}

func TestSetupMakesAnAdministratorWhoCanSignIn(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		token := f.setupLink(t)
		_, err := f.Setup(t.Context(), home, token, "ada", password)
		wantCode(t, err, "email_invalid")
		_, err = f.Setup(t.Context(), home, token, email, "short")
		wantCode(t, err, "password_short")
		wantCode(t, f.CheckSetupLink(t.Context(), token), "") // what was refused has not used it up
		must.Get(f.Setup(t.Context(), home, token, "Ada@site.example", password))(t)
		_, err = f.Setup(t.Context(), away, token, "mallory@site.example", password)
		wantCode(t, err, "already_set_up")
		_, _, err = f.NewSetupLink(t.Context(), operator)
		wantCode(t, err, "already_set_up")
		if in, err := f.SignIn(t.Context(), home, email, password); err != nil || in.User.Email != email {
			t.Errorf("%+v, %v", in, err)
		}
		if got, want := f.actions(t), []string{"setup_link.create", "user.create " + email, "user.sign_in " + email}; !slices.Equal(got, want) {
			t.Errorf("audit %q, want %q", got, want)
		}
	})
}

func TestServersThatStartPrintOneSetupLink(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		both, tokens := []*fixture{f, f.second(t)}, [8]string{}
		counts := atOnce(len(tokens), func(i int) (err error) {
			tokens[i], _, err = both[i%2].SetupLink(t.Context(), operator)
			return err
		})
		for _, token := range tokens {
			if counts[""] != len(tokens) || token != tokens[0] {
				t.Fatalf("%v, links %q", counts, tokens)
			}
		}
		if got := f.actions(t); !slices.Equal(got, []string{"setup_link.create"}) {
			t.Errorf("audit %q", got)
		}
		asked := f.setupLink(t)
		wantCode(t, f.CheckSetupLink(t.Context(), tokens[0]), "link_unknown")
		f.clock.Move(23 * time.Hour)
		if again, _, err := f.SetupLink(t.Context(), operator); err != nil || again != asked {
			t.Errorf("the link that somebody asked for is not printed: %v", err)
		}
		f.clock.Move(time.Second)
		late, expires, err := f.SetupLink(t.Context(), operator)
		if err != nil || late == asked || !expires.Equal(f.clock.Now().Add(24*time.Hour)) {
			t.Errorf("a link that ends soon is printed again, until %v, %v", expires, err)
		}
		wantCode(t, f.CheckSetupLink(t.Context(), late), "")
		f.administrator(t)
		_, _, err = f.SetupLink(t.Context(), operator)
		wantCode(t, err, "already_set_up")
	})
}

func TestSetupLinkUsedManyTimesAtOnceMakesExactlyOneAdministrator(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		token := f.setupLink(t)
		both := []*fixture{f, f.second(t)}
		counts := atOnce(8, func(i int) error {
			_, err := both[i%2].Setup(t.Context(), home, token, string(rune('a'+i))+"@site.example", password)
			return err
		})
		if counts[""] != 1 || counts["already_set_up"] != 7 {
			t.Errorf("outcomes %v, want one success and seven that say already_set_up", counts)
		}
		if n, err := f.db.CountAdministrators(t.Context()); err != nil || n != 1 {
			t.Errorf("%d users, %v", n, err)
		}
	})
}

func TestOnlyTheOperatorMakesLinks(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		for _, a := range []Actor{{}, {Kind: KindKey, ID: "1", Secret: true}, {Kind: KindUser, User: 1}} {
			_, _, err := f.NewSetupLink(t.Context(), a)
			wantCode(t, err, "not_allowed")
			_, _, err = f.NewSignInLink(t.Context(), a, email)
			wantCode(t, err, "not_allowed")
		}
	})
}
