package people

import (
	"context"
	"testing"

	"github.com/countersign/countersign/internal/expect"
)

func TestMay(t *testing.T) {
	tests := []struct {
		rule                         string
		actor                        Actor
		manage, ownAccount, operates bool
	}{
		{"an administrator manages, and has an account", Actor{Kind: KindUser, User: 1, Administrator: true}, true, true, false},
		{"another user has an account", Actor{Kind: KindUser, User: 1}, false, true, false},
		{"the operator manages, and has none", Operator("root"), true, false, true},
		{"a user without an id is nobody", Actor{Kind: KindUser, ID: "ada@site.example", Administrator: true}, false, false, false},
		{"a key does nothing here", Actor{Kind: KindKey, User: 1, Secret: true}, false, false, false},
		{"nobody does nothing", Actor{}, false, false, false},
		{"an unknown kind does nothing", Actor{Kind: "guest", User: 1}, false, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			for what, want := range map[action]bool{manage: tt.manage, ownAccount: tt.ownAccount, operate: tt.operates} {
				expect.Equalf(t, may(tt.actor, what) == nil, want, "action %d", what)
			}
		})
	}
}

func TestEveryRuleThatIsNotPublicAsks(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		f.administrator(t)
		rules := map[string]func(a Actor) error{
			"Users":               func(a Actor) error { _, err := f.Users(ctx, a); return err },
			"CreateAdministrator": func(a Actor) error { _, err := f.CreateAdministrator(ctx, a, "eve@site.example", password); return err },
			"MayManage":           func(a Actor) error { return f.MayManage(a) },
			"Administrator":       func(a Actor) error { _, err := f.UserByID(ctx, a, 1); return err },
			"UserNamed":           func(a Actor) error { _, err := f.UserNamed(ctx, a, email); return err },
			"SetAdministrator":    func(a Actor) error { _, err := f.SetAdministrator(ctx, a, 1, true); return err },
			"LastAdministrator":   func(a Actor) error { _, err := f.LastAdministrator(ctx, a, User{}); return err },
			"RenameUser":          func(a Actor) error { _, err := f.RenameUser(ctx, a, 1, "eve@site.example"); return err },
			"DeactivateUser":      func(a Actor) error { _, err := f.DeactivateUser(ctx, a, 1); return err },
			"ActivateUser":        func(a Actor) error { _, err := f.ActivateUser(ctx, a, 1); return err },
			"RemoveUser":          func(a Actor) error { _, err := f.RemoveUser(ctx, a, 1); return err },
			"InviteAdministrator": func(a Actor) error { _, err := f.InviteAdministrator(ctx, a, "eve@site.example"); return err },
			"InviteAgain":         func(a Actor) error { _, err := f.InviteAgain(ctx, a, 1); return err },
			"ChoosePassword":      func(a Actor) error { _, err := f.ChoosePassword(ctx, a, 0, other); return err },
			"Audit":               func(a Actor) error { _, err := f.Audit(ctx, a, AuditFilter{}); return err },
			"AuditPlace":          func(a Actor) error { _, err := f.AuditPlace(ctx, a, AuditFilter{}); return err },
			"ResetPassword":       func(a Actor) error { return f.ResetPassword(ctx, a, email, other, true) },
			"NewSetupLink":        func(a Actor) error { _, _, err := f.NewSetupLink(ctx, a); return err },
			"SetupLink":           func(a Actor) error { _, _, err := f.SetupLink(ctx, a); return err },
			"NewSignInLink":       func(a Actor) error { _, _, err := f.NewSignInLink(ctx, a, email); return err },
			"CheckPassword":       func(a Actor) error { return f.CheckPassword(ctx, a, password) },
			"ChangePassword":      func(a Actor) error { _, err := f.ChangePassword(ctx, a, 0, password, other); return err },
			"BeginTOTP":           func(a Actor) error { _, err := f.BeginTOTP(ctx, a, password, "x"); return err },
			"ConfirmTOTP":         func(a Actor) error { _, _, err := f.ConfirmTOTP(ctx, a, 0, "000000"); return err },
			"DisableTOTP":         func(a Actor) error { _, err := f.DisableTOTP(ctx, a, 0, password); return err },
			"NewRecoveryCodes":    func(a Actor) error { _, err := f.NewRecoveryCodes(ctx, a, password); return err },
			"Sessions":            func(a Actor) error { _, err := f.Sessions(ctx, a); return err },
			"EndSession":          func(a Actor) error { return f.EndSession(ctx, a, 1) },
			"EndOtherSessions":    func(a Actor) error { _, err := f.EndOtherSessions(ctx, a, 0); return err },
		}
		before := len(f.actions(t))
		for name, rule := range rules {
			for _, a := range []Actor{{}, {Kind: KindKey, ID: "1", User: 1, Secret: true}, {Kind: KindVisitor, User: 1}} {
				if codeOf(rule(a)) != "not_allowed" {
					t.Errorf("%s lets %q in: %v", name, a.Kind, rule(a))
				}
			}
		}
		if after := len(f.actions(t)); after != before {
			t.Errorf("%d lines of audit were written", after-before)
		}
	})
}

func TestActionsEndWithTheirContext(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.administrator(t)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := f.SignIn(ended, home, email, password); err == nil {
			t.Error("a sign-in whose client has left was made")
		}
	})
}
