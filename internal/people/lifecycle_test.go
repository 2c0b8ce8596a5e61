package people

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
)

// another creates a second administrator.
func (f *fixture) another(t *testing.T, email string) User {
	t.Helper()
	return must.Get(f.CreateAdministrator(t.Context(), operator, email, other))(t)
}

func TestRenamedAdministratorSignsInWithTheNewEmail(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		_, ada := f.administrator(t)
		bob := f.another(t, "bob@site.example")
		f.session(t, "of bob", bob)
		for rule, tt := range map[string]struct {
			id          int64
			email, code string
		}{
			"an e-mail that is none is refused":  {bob.ID, "bob", "email_invalid"},
			"another user's e-mail is refused":   {bob.ID, "ADA@site.example", "email_taken"},
			"somebody who does not exist is not": {99, "eve@site.example", "user_not_found"},
		} {
			_, err := f.RenameUser(ctx, ada, tt.id, tt.email)
			expect.Equalf(t, codeOf(err), tt.code, "%s: %v", rule, err)
		}
		for range 2 { // the second time nothing changes
			u, err := f.RenameUser(ctx, ada, bob.ID, " Robert@Site.example ")
			if err != nil || u.Email != "robert@site.example" {
				t.Fatalf("renamed to %q, %v", u.Email, err)
			}
		}
		if !f.alive(t, "of bob") {
			t.Error("the session has ended")
		}
		_, err := f.SignIn(ctx, home, "bob@site.example", other)
		wantCode(t, err, "sign_in_refused")
		_, err = f.SignIn(ctx, home, "robert@site.example", other)
		wantCode(t, err, "")
		lines, err := f.Audit(ctx, ada, AuditFilter{Action: "user.rename"})
		if err != nil || len(lines) != 1 || lines[0].Before != "bob@site.example" || lines[0].After != "robert@site.example" || lines[0].Actor != email {
			t.Errorf("audit %+v, %v", lines, err)
		}
	})
}

func TestDeactivatedAdministratorIsOutUntilActivated(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		_, ada := f.administrator(t)
		f.enableTOTP(t, ada, password)
		u := f.user(t)
		bob := f.another(t, "bob@site.example").Actor(away)
		f.session(t, "one", u)
		link, _, err := f.NewSignInLink(ctx, operator, email)
		wantCode(t, err, "")

		for range 2 { // the second time nothing changes
			after, err := f.DeactivateUser(ctx, bob, u.ID)
			if err != nil || !after.Inactive || after.TOTP {
				t.Fatalf("deactivated: %+v, %v", after, err)
			}
		}
		if f.alive(t, "one") {
			t.Error("a session goes on")
		}
		_, err = f.SignInByLink(ctx, home, link)
		wantCode(t, err, "link_unknown")
		_, _, err = f.NewSignInLink(ctx, operator, email)
		wantCode(t, err, "user_inactive")
		_, err = f.SignIn(ctx, home, email, other)
		wantCode(t, err, "sign_in_refused")
		_, err = f.SignIn(ctx, home, email, password)
		wantCode(t, err, "user_inactive")
		_, err = f.RenameUser(ctx, ada, u.ID, "eve@site.example") // by a request that was under way
		wantCode(t, err, "user_gone")

		wantCode(t, f.ResetPassword(ctx, operator, email, other, false), "")
		_, err = f.SignIn(ctx, home, email, other)
		wantCode(t, err, "user_inactive")

		for range 2 {
			after, err := f.ActivateUser(ctx, bob, u.ID)
			if err != nil || after.Inactive {
				t.Fatalf("activated: %+v, %v", after, err)
			}
		}
		if in, err := f.SignIn(ctx, home, email, other); err != nil || in.NeedsCode {
			t.Errorf("after the activation: %+v, %v", in, err)
		}
		if f.alive(t, "one") {
			t.Error("a session came back")
		}
		want := []string{"user.deactivate ada@site.example", "password.reset ada@site.example", "user.activate ada@site.example"}
		if got := f.actions(t); !slices.Equal(slices.DeleteFunc(got[len(got)-4:], func(s string) bool { return s == "user.sign_in ada@site.example" }), want) {
			t.Errorf("audit %q", got)
		}
	})
}

func TestRemovedAdministratorLeavesItsNameInTheAuditLog(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		_, ada := f.administrator(t)
		f.enableTOTP(t, ada, password)
		u := f.user(t)
		bob := f.another(t, "bob@site.example").Actor(away)
		f.session(t, "one", u)
		link, _, err := f.NewSignInLink(ctx, operator, email)
		wantCode(t, err, "")

		removed, err := f.RemoveUser(ctx, bob, u.ID)
		if err != nil || removed.Email != email {
			t.Fatalf("removed %+v, %v", removed, err)
		}
		_, err = f.RemoveUser(ctx, bob, u.ID)
		wantCode(t, err, "user_not_found")
		if f.alive(t, "one") {
			t.Error("a session goes on")
		}
		// A request that was under way ends quietly.
		late := SavedSession{User: u.ID, Generation: u.Generation, Data: []byte("late"), Expires: f.clock.Now().Add(time.Hour), From: home}
		wantCode(t, f.SaveSession(ctx, "one", late), "")
		wantCode(t, f.SaveSession(ctx, "of a sign-in", late), "")
		if f.alive(t, "one") || f.alive(t, "of a sign-in") {
			t.Error("a late save revives the user")
		}
		_, err = f.SignInByLink(ctx, home, link)
		wantCode(t, err, "link_unknown")
		_, err = f.SignIn(ctx, home, email, password)
		wantCode(t, err, "sign_in_refused")
		wantCode(t, f.SignInCode(ctx, home, u.ID, "123456"), "code_refused")
		wantCode(t, f.CheckPassword(ctx, ada, password), "user_gone")

		lines, err := f.Audit(ctx, bob, AuditFilter{Actor: email})
		if err != nil || len(lines) == 0 || lines[0].Action != "totp.enable" {
			t.Errorf("the entries of the removed user: %+v, %v", lines, err)
		}
		if got := f.actions(t); got[len(got)-1] != "user.remove ada@site.example" {
			t.Errorf("audit %q", got)
		}
		if again := f.another(t, email); again.ID == u.ID {
			t.Error("a new user with the same e-mail has the same id")
		}
	})
}

func TestSomebodyCanAlwaysSignIn(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		u, ada := f.administrator(t)
		invited, err := f.InviteAdministrator(ctx, ada, "eve@site.example")
		wantCode(t, err, "")
		bob := f.another(t, "bob@site.example")
		_, err = f.DeactivateUser(ctx, ada, bob.ID)
		wantCode(t, err, "")
		if last, err := f.LastAdministrator(ctx, ada, u); err != nil || !last {
			t.Errorf("the last one: %v, %v", last, err)
		}
		if last, err := f.LastAdministrator(ctx, ada, invited.User); err != nil || last {
			t.Errorf("somebody without a password is the last one: %v, %v", last, err)
		}
		f.session(t, "one", u)
		for name, act := range map[string]func(Actor) error{
			"deactivate": func(a Actor) error { _, err := f.DeactivateUser(ctx, a, u.ID); return err },
			"remove":     func(a Actor) error { _, err := f.RemoveUser(ctx, a, u.ID); return err },
		} {
			for _, a := range []Actor{ada, operator} {
				expect.Equalf(t, codeOf(act(a)), "last_administrator", "%s by the %s", name, a.Kind)
			}
		}
		if !f.alive(t, "one") {
			t.Error("a refusal has ended a session")
		}
		for _, id := range []int64{invited.User.ID, bob.ID} { // who can't sign in is not the last one
			_, err := f.RemoveUser(ctx, ada, id)
			wantCode(t, err, "")
		}
	})
}

func TestOfTheLastTwoAdministratorsOneStays(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		processes := []*fixture{f, f.second(t)}
		ada, _ := f.administrator(t)
		last := ada
		for round := range 8 {
			next := f.another(t, fmt.Sprintf("bob%d@site.example", round))
			pair := []User{last, next}
			codes := atOnce(2, func(i int) error {
				act := processes[i].RemoveUser
				if round%2 == 1 {
					act = processes[i].DeactivateUser
				}
				_, err := act(t.Context(), operator, pair[i].ID)
				return err
			})
			if want := map[string]int{"": 1, "last_administrator": 1}; !maps.Equal(codes, want) {
				t.Fatalf("round %d: %v", round, codes)
			}
			list := must.Get(f.Users(t.Context(), operator))(t)
			active := slices.DeleteFunc(list, func(u User) bool { return u.Inactive })
			if len(active) != 1 {
				t.Fatalf("round %d: active are %+v", round, active)
			}
			last = active[0]
		}
	})
}

func TestAdministratorsWhoRemoveEachOtherLeaveOne(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		processes := []*fixture{f, f.second(t)}
		f.administrator(t)
		f.another(t, "last@site.example") // so that the last one is not the reason
		for round := range 4 {
			pair := []User{f.another(t, fmt.Sprintf("a%d@site.example", round)), f.another(t, fmt.Sprintf("b%d@site.example", round))}
			codes := atOnce(2, func(i int) error {
				_, err := processes[i].RemoveUser(t.Context(), pair[i].Actor(home), pair[1-i].ID)
				return err
			})
			if want := map[string]int{"": 1, "user_gone": 1}; !maps.Equal(codes, want) {
				t.Fatalf("round %d: %v", round, codes)
			}
		}
	})
}

func TestAServiceWithoutRolesHasOnlyAdministrators(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.administrator(t)
		bob := f.another(t, "bob@site.example")
		before := f.actions(t)
		if _, err := f.SetAdministrator(t.Context(), operator, bob.ID, false); !fault.HasCode(err, "all_administrators") {
			t.Fatal(err)
		}
		if after := f.actions(t); !slices.Equal(before, after) {
			t.Errorf("%v", after)
		}
	})
}

func TestInvitedAdministratorChoosesAPassword(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		_, err := f.InviteAdministrator(ctx, operator, "eve@site.example")
		wantCode(t, err, "not_set_up")
		u, ada := f.administrator(t)
		_, err = f.InviteAdministrator(ctx, ada, "ada@site.example")
		wantCode(t, err, "email_taken")
		first, err := f.InviteAdministrator(ctx, ada, "Eve@site.example")
		if err != nil || first.User.HasPassword || first.Expires.Sub(f.clock.Now()) != 24*time.Hour {
			t.Fatalf("%+v, %v", first, err)
		}
		for _, guess := range []string{"", password} {
			_, err := f.SignIn(ctx, away, "eve@site.example", guess)
			wantCode(t, err, "sign_in_refused")
		}
		_, err = f.InviteAgain(ctx, ada, u.ID)
		wantCode(t, err, "password_set")
		second, err := f.InviteAgain(ctx, ada, first.User.ID)
		wantCode(t, err, "")
		_, err = f.SignInByLink(ctx, away, first.Token)
		wantCode(t, err, "link_unknown")
		in, err := f.SignInByLink(ctx, away, second.Token)
		wantCode(t, err, "")
		eve, session := in.Actor(away), f.session(t, "of eve", in)
		f.session(t, "elsewhere", in)
		wantCode(t, f.CheckPassword(ctx, eve, ""), "password_unset")
		_, err = f.ChoosePassword(ctx, eve, session, "short")
		wantCode(t, err, "password_short")
		after, err := f.ChoosePassword(ctx, eve, session, other)
		if err != nil || !after.HasPassword || f.alive(t, "elsewhere") || !f.alive(t, "of eve") {
			t.Errorf("%+v, %v", after, err)
		}
		_, err = f.ChoosePassword(ctx, eve, session, password)
		wantCode(t, err, "password_set")
		_, err = f.SignIn(ctx, away, "eve@site.example", other)
		wantCode(t, err, "")
	})
}
