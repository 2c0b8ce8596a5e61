package main

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/spf13/cobra"
)

func newAddonUser(a *app) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use: "user", Short: "People who sign in to the admin pages: list, create, rename, deactivate, activate, remove, reset-password, sign-in-link",
	},
		listAll(a, a.withAddon, "List the administrators", "Nobody can sign in yet. Create a link for the first administrator with: countersign addon setup-link", viewUser, allUsers),
		a.onNewPassword(&cobra.Command{
			Use: "create EMAIL", Short: "Add an administrator",
		}, func(ctx context.Context, s *addon.Addon, email, password string) error {
			u, err := s.People().CreateAdministrator(ctx, operator(), email, password)
			return a.Show(viewUser(u), err)
		}),
		newUserRename(a), newUserDeactivate(a), newUserActivate(a), newUserRemove(a), newUserResetPassword(a), newUserSignInLink(a))
}

func allUsers(ctx context.Context, s *addon.Addon) ([]people.User, error) {
	return s.People().Users(ctx, operator())
}

type userView struct {
	Email      string                 `json:"email" row:"1,E-MAIL,text" card:"1,E-mail"`
	Active     bool                   `json:"active"`
	State      string                 `json:"-" row:"2,STATE" card:"2,State"`
	TwoStep    bool                   `json:"two_step" row:"3,TWO-STEP SIGN-IN"`
	CreatedAt  countersign.Timestamp  `json:"created_at" row:"4,CREATED"`
	PasswordAt *countersign.Timestamp `json:"password_at"`
	SignedInAt *countersign.Timestamp `json:"signed_in_at" row:"5,LAST SIGN-IN (UTC),minute"`
}

func viewUser(u people.User) userView {
	v := userView{
		Email: u.Email, Active: !u.Inactive, State: active(!u.Inactive), TwoStep: u.TOTP,
		CreatedAt: countersign.At(u.CreatedAt), SignedInAt: cli.OrNull(countersign.At(u.SignedInAt)),
	}
	if u.HasPassword {
		v.PasswordAt = cli.OrNull(countersign.At(u.PasswordAt))
	}
	return v
}

// onUser returns a command that works on the administrator whose e-mail is its first argument; more names
// the other arguments.
func (a *app) onUser(c *cobra.Command, do func(ctx context.Context, s *addon.Addon, u people.User, args []string) error, more ...string) *cobra.Command {
	c.Args, c.ValidArgsFunction = cli.Args(append([]string{"e-mail"}, more...)...), first(a.fromAddon(userEmails))
	return on(a.withAddon, c, func(ctx context.Context, s *addon.Addon, args []string) error {
		u, err := s.People().UserNamed(ctx, operator(), args[0])
		if err != nil {
			return err
		}
		return do(ctx, s, u, args[1:])
	})
}

func newUserRename(a *app) *cobra.Command {
	return a.onUser(&cobra.Command{
		Use: "rename EMAIL NEW-EMAIL", Short: "Change the e-mail with which an administrator signs in",
		Long: `Change the e-mail with which an administrator signs in. Password, two-step sign-in and sessions
stay. Earlier entries of the audit log keep the old e-mail.`,
		Example: "  countersign addon user rename ada@site.example ada.l@site.example",
	}, func(ctx context.Context, s *addon.Addon, u people.User, args []string) error {
		renamed, err := s.People().RenameUser(ctx, operator(), u.ID, args[0])
		return a.Show(viewUser(renamed), err)
	}, "new e-mail")
}

func newUserDeactivate(a *app) *cobra.Command {
	return a.onUser(&cobra.Command{
		Use: "deactivate EMAIL", Short: "Keep an administrator from signing in, until they are activated",
		Long: `Keep an administrator from signing in. Their sessions and sign-in links end, and two-step sign-in
is turned off. The last active administrator can't be deactivated. To undo it:
countersign addon user activate`,
		Example: "  countersign addon user deactivate bob@site.example",
	}, func(ctx context.Context, s *addon.Addon, u people.User, _ []string) error {
		after, err := s.People().DeactivateUser(ctx, operator(), u.ID)
		return a.Show(viewUser(after), err)
	})
}

func newUserActivate(a *app) *cobra.Command {
	return a.onUser(&cobra.Command{
		Use: "activate EMAIL", Short: "Let a deactivated administrator sign in again",
		Long: `Let a deactivated administrator sign in again, with the same password and without two-step
sign-in. To set a new password: countersign addon user reset-password`,
		Example: "  countersign addon user activate bob@site.example",
	}, func(ctx context.Context, s *addon.Addon, u people.User, _ []string) error {
		after, err := s.People().ActivateUser(ctx, operator(), u.ID)
		return a.Show(viewUser(after), err)
	})
}

func newUserRemove(a *app) *cobra.Command {
	return a.onUser(&cobra.Command{
		Use: "remove EMAIL", Short: "Remove an administrator; the audit log keeps the e-mail",
		Long: `Remove an administrator with their password, sessions, sign-in links and two-step sign-in. It
can't be undone. Entries of the audit log keep the e-mail. The last active administrator
can't be removed.`,
		Example: "  countersign addon user remove bob@site.example",
	}, func(ctx context.Context, s *addon.Addon, u people.User, _ []string) error {
		if err := a.Confirm(ctx, "The administrator "+u.Email+" is removed and can't sign in any more. Continue?"); err != nil {
			return err
		}
		if _, err := s.People().RemoveUser(ctx, operator(), u.ID); err != nil {
			return err
		}
		return a.Done(struct {
			Removed string `json:"removed"`
		}{u.Email}, "Removed the administrator %s.", cli.Safe(u.Email))
	})
}

func newUserResetPassword(a *app) *cobra.Command {
	var removeTwoStep bool
	c := a.onNewPassword(&cobra.Command{
		Use: "reset-password EMAIL", Short: "Set a new password for an administrator and end all of their sessions",
		Example: `  countersign addon user reset-password ada@site.example
  countersign addon user reset-password ada@site.example --password-file - --remove-two-step < password.txt`,
	}, func(ctx context.Context, s *addon.Addon, email, password string) error {
		if err := s.People().ResetPassword(ctx, operator(), email, password, removeTwoStep); err != nil {
			return err
		}
		return a.Done(struct {
			Email          string `json:"email"`
			TwoStepRemoved bool   `json:"two_step_removed"`
		}{email, removeTwoStep}, "Changed the password of %s and ended all of their sessions.", cli.Safe(email))
	})
	c.Flags().BoolVar(&removeTwoStep, "remove-two-step", false, "also turn off two-step sign-in, for a lost authenticator app")
	return c
}

// onNewPassword returns a command that works on the addon with the e-mail of a user and a
// new password, from a file or from a person.
func (a *app) onNewPassword(c *cobra.Command, do func(ctx context.Context, s *addon.Addon, email, password string) error) *cobra.Command {
	var file string
	c.Flags().StringVar(&file, "password-file", "", "the `file` with the new password, - for stdin (default: you are asked)")
	c.Args = cli.Args("e-mail")
	return on(a.withAddon, c, func(ctx context.Context, s *addon.Addon, args []string) error {
		password, err := a.NewPassword(ctx, file, "New password: ", "Once more: ", func(string) error { return nil })
		if err != nil {
			return err
		}
		return do(ctx, s, args[0], password)
	})
}

func newUserSignInLink(a *app) *cobra.Command {
	return a.onLink(&cobra.Command{
		Use: "sign-in-link EMAIL", Short: "Print a link that signs an administrator in once, within ten minutes", Args: cli.Args("e-mail"),
		Long: `Print a link that signs an administrator in. It works once, within ten minutes, without
password and code, even after too many failed sign-ins. Send it to that person only.

The link leads to --base-url, or to the server that runs on the data folder.`,
		Example: "  countersign addon user sign-in-link ada@site.example",
	}, a.withAddon, func(ctx context.Context, s *addon.Addon, url string, args []string) error {
		token, expires, err := s.People().NewSignInLink(ctx, operator(), args[0])
		return a.Show(struct {
			SignInURL string                `json:"sign_in_url" card:"1,Link"`
			ExpiresAt countersign.Timestamp `json:"expires_at" card:"2,Valid until"`
		}{signInLink(url, token), countersign.At(expires)}, err)
	})
}

// signInLink is the address at which a token signs somebody in. It stands behind
// #, which browsers keep to themselves.
func signInLink(url, token string) string { return url + "/admincp/link#" + token }

// environmentAdministrator returns the first administrator that the environment names,
// or an empty e-mail.
func (a *app) environmentAdministrator() (email, password string, err error) {
	if email, err = a.Variable(envAdminEmail); email == "" {
		return "", "", err
	}
	if password, err = a.Secret(envAdminPassword); err != nil {
		return "", "", err
	}
	if password == "" {
		return "", "", cli.Fail(cli.ExitUsage, "usage", envAdminEmail+" is set without a password; write the password to a file and name the file in "+envAdminPassword+"_FILE")
	}
	return email, password, nil
}

// firstAdministrator creates the administrator that the environment names if no
// administrator exists, and then returns the e-mail. The addon must be set up.
func (a *app) firstAdministrator(ctx context.Context, s *addon.Addon) (email string, err error) {
	if named, err := a.Variable(envAdminEmail); named == "" {
		return "", err
	}
	there, err := s.People().HasAdministrator(ctx)
	if err != nil || there {
		return "", err
	}
	email, password, err := a.environmentAdministrator()
	if err != nil {
		return "", err
	}
	user, err := s.People().CreateAdministrator(ctx, operator(), email, password)
	if fault.HasCode(err, "already_set_up") {
		return "", nil // somebody else was quicker
	}
	return user.Email, err
}
