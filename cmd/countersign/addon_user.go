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
		Use: "user", Short: "People who sign in to the admin pages: list, create, reset-password, sign-in-link",
	},
		listAll(a, a.withAddon, "List the administrators", "Nobody can sign in yet. Create a link for the first administrator with: countersign addon setup-link", viewUser,
			func(ctx context.Context, s *addon.Addon) ([]people.User, error) {
				return s.People().Users(ctx, operator())
			}),
		a.onNewPassword(&cobra.Command{
			Use: "create EMAIL", Short: "Add an administrator",
		}, func(ctx context.Context, s *addon.Addon, email, password string) error {
			u, err := s.People().CreateAdministrator(ctx, operator(), email, password)
			return a.Show(viewUser(u), err)
		}),
		newUserResetPassword(a), newUserSignInLink(a))
}

type userView struct {
	Email      string                 `json:"email" row:"1,E-MAIL,text" card:"1,E-mail"`
	TwoStep    bool                   `json:"two_step" row:"2,TWO-STEP SIGN-IN"`
	CreatedAt  countersign.Timestamp  `json:"created_at" row:"3,CREATED"`
	PasswordAt countersign.Timestamp  `json:"password_at"`
	SignedInAt *countersign.Timestamp `json:"signed_in_at" row:"4,LAST SIGN-IN (UTC),minute"`
}

func viewUser(u people.User) userView {
	return userView{u.Email, u.TOTP, countersign.At(u.CreatedAt), countersign.At(u.PasswordAt), cli.OrNull(countersign.At(u.SignedInAt))}
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
			ExpiresAt countersign.Timestamp `json:"expires_at" card:"2,Good until"`
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
